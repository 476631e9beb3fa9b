"""A stand-in for APNs on Python's h2 and asyncio: the one whose every frame can be chosen."""

import argparse
import asyncio
import os
import ssl
import time

import h2.config
import h2.connection
import h2.events
import h2.settings
import hyperframe.frame

parser = argparse.ArgumentParser()
for name, usual in [("port", 0), ("streams", 100), ("window", 65535), ("latency", 0), ("rate", 0), ("refuse-every", 0),
                    ("refuse-json", 1), ("leave-every", 0), ("settings-every", 0)]:
    parser.add_argument(f"--{name}", type=int, default=usual)
parser.add_argument("--certificate")
parser.add_argument("--ledger")
options = parser.parse_args()
ledger = os.open(options.ledger, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
codes = h2.settings.SettingCodes


class APNs(asyncio.Protocol):
    connections = pushes = read = 0
    epoch = time.monotonic()

    def connection_made(self, transport):
        APNs.connections += 1
        self.number, self.transport, self.requests = APNs.connections, transport, {}
        self.last = None
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={codes.MAX_CONCURRENT_STREAMS: options.streams})
        self.h2.initiate_connection()
        # In a frame of its own: h2 takes what stands in the first one for agreed upon before the client can have read it.
        self.h2.update_settings({codes.INITIAL_WINDOW_SIZE: options.window})
        self.flush()
        if options.settings_every:
            self.after(options.settings_every, self.change, options.streams)
        if options.leave_every:
            self.after(options.leave_every, self.leave)

    def after(self, milliseconds, call, *arguments):
        asyncio.get_running_loop().call_later(milliseconds / 1000, call, *arguments)

    def note(self, what, stream):
        # One write for each line: what was written outlives a kill.
        token, identifier = self.requests[stream]
        os.write(ledger, f"{what} {token} {self.number} {identifier}\n".encode())

    def change(self, streams):
        self.h2.update_settings({codes.MAX_CONCURRENT_STREAMS: 1 if streams > 1 else options.streams})
        self.flush()
        self.after(options.settings_every, self.change, 1 if streams > 1 else options.streams)

    def leave(self):
        """GOAWAY as RFC 9113, 6.8 wants it: streams up to the last are answered, later ones are not looked at."""
        # A frame of hyperframe: h2's own GOAWAY forbids to answer anything.
        self.last = self.h2.highest_inbound_stream_id
        self.transport.write(hyperframe.frame.GoAwayFrame(0, last_stream_id=self.last).serialize())
        self.end_if_done()

    def end_if_done(self):
        if self.last is not None and not self.requests:
            self.transport.close()

    def data_received(self, data):
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RequestReceived) and (self.last is None or event.stream_id <= self.last):
                headers = dict(event.headers)
                self.requests[event.stream_id] = (headers[":path"].removeprefix("/3/device/"), headers.get("apns-id", "-"))
                self.note("seen", event.stream_id)
            elif isinstance(event, h2.events.DataReceived):
                self.take(event.stream_id, event.flow_controlled_length)
            elif isinstance(event, h2.events.StreamReset):
                self.requests.pop(event.stream_id, None)
            elif isinstance(event, h2.events.StreamEnded):
                self.after(max(options.latency, self.early()), self.answer, event.stream_id)
        self.flush()

    def early(self):
        """Milliseconds that bodies are ahead of the rate."""
        return 1000 * max(0, APNs.epoch + APNs.read / options.rate - time.monotonic()) if options.rate else 0

    def take(self, stream, count):
        APNs.read += count
        if early := self.early():
            self.after(early, self.acknowledge, stream, count)
        else:
            self.acknowledge(stream, count)

    def acknowledge(self, stream, count):
        if count and not self.transport.is_closing():
            self.h2.acknowledge_received_data(count, stream)
            self.flush()

    def answer(self, stream):
        if stream not in self.requests or self.transport.is_closing():
            return
        APNs.pushes += 1
        is_refused = options.refuse_every and APNs.pushes % options.refuse_every == 0
        self.note("refused" if is_refused else "accepted", stream)
        _, identifier = self.requests.pop(stream)
        body = b'{"reason":"ServiceUnavailable"}' if is_refused and options.refuse_json else b""
        self.h2.send_headers(stream, [(":status", "503" if is_refused else "200"), ("apns-id", identifier)], end_stream=not body)
        if body:
            self.h2.send_data(stream, body, end_stream=True)
        self.flush()
        self.end_if_done()

    def flush(self):
        self.transport.write(self.h2.data_to_send())


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options.certificate)
    context.set_alpn_protocols(["h2"])
    server = await asyncio.get_running_loop().create_server(APNs, "127.0.0.1", options.port, ssl=context)
    await server.serve_forever()


asyncio.run(main())
