// A stand-in for APNs on Go's net/http and golang.org/x/net/http2, as Debian packs them.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

var (
	port        = flag.Int("port", 0, "of 127.0.0.1")
	certificate = flag.String("certificate", "", "PEM file with certificate and key; without it HTTP/1.1 in the clear")
	ledger      = flag.String("ledger", "", "gets a line for each push seen, accepted, refused")
	streams     = flag.Uint("streams", 250, "SETTINGS_MAX_CONCURRENT_STREAMS")
	window      = flag.Int("window", 1<<20, "bytes; initial window of streams, and of the connection where it is larger than 65,535")
	latency     = flag.Int("latency", 0, "milliseconds before each answer")
	slowEach    = flag.Uint64("latency-every", 1, "every n-th answer waits for the latency")
	rate        = flag.Int("rate", 0, "bytes of bodies read a second over all streams; 0 for no limit")
	refuse      = flag.Uint64("refuse-every", 0, "every n-th push gets 503 and is not accepted")
	refuseJSON  = flag.Bool("refuse-json", true, "whether a 503 carries APNs' reason")
	leave       = flag.Int("leave-every", 0, "milliseconds between two graceful shutdowns")
)

var pushes, bytesRead uint64

// read takes bodies no faster than the rate.
func read(body io.Reader) {
	count, _ := io.Copy(io.Discard, body)
	if *rate > 0 {
		total := atomic.AddUint64(&bytesRead, uint64(count))
		time.Sleep(time.Until(epoch.Add(time.Duration(total) * time.Second / time.Duration(*rate))))
	}
}

var epoch = time.Now()

func main() {
	flag.Parse()
	file, err := os.OpenFile(*ledger, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	// One write for each line: what was written outlives a kill.
	note := func(what, token string, r *http.Request) {
		fmt.Fprintf(file, "%s %s %s %s\n", what, token, r.RemoteAddr, r.Header.Get("apns-id"))
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.URL.Path, "/3/device/")
		note("seen", token, r)
		read(r.Body)
		number := atomic.AddUint64(&pushes, 1)
		if number%*slowEach == 0 {
			time.Sleep(time.Duration(*latency) * time.Millisecond)
		}
		w.Header().Set("apns-id", r.Header.Get("apns-id"))
		if *refuse > 0 && number%*refuse == 0 {
			note("refused", token, r)
			w.WriteHeader(503)
			if *refuseJSON {
				io.WriteString(w, `{"reason":"ServiceUnavailable"}`)
			}
			return
		}
		note("accepted", token, r)
	})
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	for {
		// A server closes its listener, so each gets a duplicate: a client that connects in between waits for the next one.
		socket, _ := listener.(*net.TCPListener).File()
		duplicate, _ := net.FileListener(socket)
		socket.Close()
		server := &http.Server{Handler: handler}
		if *certificate == "" {
			go server.Serve(duplicate)
		} else {
			pair, err := tls.LoadX509KeyPair(*certificate, *certificate)
			if err != nil {
				log.Fatal(err)
			}
			server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}}
			http2.ConfigureServer(server, &http2.Server{
				MaxConcurrentStreams: uint32(*streams), MaxUploadBufferPerStream: int32(*window),
				MaxUploadBufferPerConnection: int32(*window),
			})
			go server.ServeTLS(duplicate, "", "")
		}
		if *leave == 0 {
			select {}
		}
		time.Sleep(time.Duration(*leave) * time.Millisecond)
		go server.Shutdown(context.Background())
	}
}
