#pragma once

/// What a loop on libcurl's multi interface reaches when it does nothing but push: the yardstick for Volley's curl transport.
/// One connection, `streams` requests in flight, the same body for every push, distinct paths, handles reused.
/// Returns the number of pushes answered 200, or -1 when the loop could not be set up.
long bare_curl_multi(const char *url, const char *authority_file, const char *bearer, const char *topic, const char *body,
                     long pushes, long streams);
