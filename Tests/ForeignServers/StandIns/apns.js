// A stand-in for APNs on Node's http2.
'use strict';
const fs = require('fs');
const http = require('http');
const http2 = require('http2');

// --name=value: port, certificate, ledger, streams, window (of streams), latency (ms), rate (bytes of bodies read a
// second), refuse-every, refuse-json, leave-every (ms), leave-by (close or goaway), settings-every (ms).
const options = Object.fromEntries(process.argv.slice(2).map((text) => text.replace(/^--/, '').split('=')));
const number = (name, usual) => Number(options[name] ?? usual);
const ledger = fs.openSync(options.ledger, 'a', 0o600);
const latency = number('latency', 0), rate = number('rate', 0), refuseEvery = number('refuse-every', 0);
let pushes = 0, bytesRead = 0, connections = 0;
const epoch = Date.now();

// One write for each line: what was written outlives a kill.
const note = (what, token, connection, id) => fs.writeSync(ledger, `${what} ${token} ${connection} ${id}\n`);

function answer(request, response, connection) {
  const token = request.url.replace('/3/device/', ''), id = request.headers['apns-id'];
  note('seen', token, connection, id);
  const end = () => {
    pushes += 1;
    if (refuseEvery > 0 && pushes % refuseEvery === 0) {
      note('refused', token, connection, id);
      response.writeHead(503, { 'apns-id': id });
      response.end(number('refuse-json', 1) ? '{"reason":"ServiceUnavailable"}' : '');
      return;
    }
    if (response.destroyed || response.stream?.destroyed) return;
    note('accepted', token, connection, id);
    response.writeHead(200, { 'apns-id': id });
    response.end();
  };
  request.on('data', (chunk) => {
    bytesRead += chunk.length;
    // Bodies are read no faster than the rate: what is not read keeps the window closed.
    const early = rate > 0 ? epoch + (bytesRead * 1000) / rate - Date.now() : 0;
    if (early > 0) {
      request.pause();
      setTimeout(() => request.resume(), early);
    }
  });
  request.on('end', () => (latency > 0 ? setTimeout(end, latency) : end()));
}

let server;
const sessions = new Set();
if (options.certificate) {
  const pem = fs.readFileSync(options.certificate);
  // Node's own default is any number of streams.
  const settings = { maxConcurrentStreams: number('streams', 2 ** 32 - 1), initialWindowSize: number('window', 65535) };
  server = http2.createSecureServer({ key: pem, cert: pem, settings });
  server.on('session', (session) => {
    session.number = ++connections;
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    let isLow = false;
    const change = () => {
      if (session.destroyed || session.closed) return;
      isLow = !isLow;
      session.settings({ maxConcurrentStreams: isLow ? 1 : settings.maxConcurrentStreams });
      setTimeout(change, number('settings-every'));
    };
    if (options['settings-every']) setTimeout(change, number('settings-every'));
  });
  server.on('request', (request, response) => answer(request, response, request.stream.session?.number ?? 0));
  if (options['leave-every']) {
    const leave = (session) => (options['leave-by'] === 'goaway' ? session.goaway() : session.close());
    setInterval(() => sessions.forEach(leave), number('leave-every'));
  }
} else {
  server = http.createServer((request, response) => answer(request, response, request.socket.remotePort));
}
server.listen(number('port'), '127.0.0.1');
