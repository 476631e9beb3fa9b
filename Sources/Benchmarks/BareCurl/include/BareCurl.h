#pragma once

/// Pushes in a loop on libcurl's multi interface that does nothing else: a yardstick for Volley's transport.
/// It uses one connection with `streams` requests in flight, the same body for every push, distinct paths, and reused handles.
/// Returns the number of pushes answered with 200, or -1 if the loop could not be set up.
long bare_curl_multi(const char *url, const char *authority_file, const char *bearer, const char *topic, const char *body,
                     long pushes, long streams);

/// The same for requests whose bodies name the target, a registration token between `body_start` and `body_end`, at one URL.
long bare_curl_calls(const char *url, const char *authority_file, const char *authorization, const char *body_start,
                     const char *body_end, long pushes, long streams);
