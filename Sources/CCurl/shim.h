#pragma once
#include <curl/curl.h>
// Volley waits for libcurl's sockets with epoll, which Swift's Glibc module leaves out.
#include <sys/epoll.h>

// Swift cannot call variadic functions. Each wrapper below fixes the one type that libcurl reads from the variable arguments
// for a family of options; passing another type there would be undefined behaviour, so there is one wrapper per type.

// A macro with a cast, which Swift does not import.
static const long volley_auth_basic = CURLAUTH_BASIC;

// Options that libcurl reads as long: switches, counts, bit masks.
static inline CURLcode volley_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// Options that libcurl reads as curl_off_t: CURLOPT_POSTFIELDSIZE_LARGE.
static inline CURLcode volley_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

// Options that libcurl reads as char *, and copies.
static inline CURLcode volley_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

// Options that libcurl reads as an object pointer: a callback's user data, header lists, error buffers, blobs.
static inline CURLcode volley_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_READFUNCTION and CURLOPT_WRITEFUNCTION have the same signature. In C a function pointer is not an object pointer, so they have
// their own wrapper.
static inline CURLcode volley_easy_set_transfer_function(CURL *easy, CURLoption option, curl_read_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_SEEKFUNCTION has a different signature.
static inline CURLcode volley_easy_set_seek_function(CURL *easy, curl_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

// CURLOPT_PREREQFUNCTION has a different signature.
static inline CURLcode volley_easy_set_prerequest_function(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

// CURLOPT_DEBUGFUNCTION has a different signature.
static inline CURLcode volley_easy_set_debug_function(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

// Information that libcurl stores into a long. Returns the value, or 0 if it is not available.
static inline long volley_easy_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// Information that libcurl stores into a curl_off_t: CURLINFO_RETRY_AFTER.
static inline curl_off_t volley_easy_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// Information that libcurl stores into a char *, valid until the handle is used again. NULL if it is not available.
static inline const char *volley_easy_get_string(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

// The object that CURLOPT_PRIVATE stored, NULL if there is none.
static inline void *volley_easy_get_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

// The value of an answer's header, NULL if there is none. Valid until the handle is used again.
static inline const char *volley_easy_get_header(CURL *easy, const char *name) {
    struct curl_header *header = NULL;
    return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : NULL;
}

// Lets libcurl look at every transfer, whatever its socket and its timers say. libcurl deprecates the function because it looks at all of
// them, which is its purpose here.
static inline CURLMcode volley_multi_check_all(CURLM *multi, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, running);
#pragma GCC diagnostic pop
}

// Options of a multi handle that libcurl reads as long.
static inline CURLMcode volley_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// CURLMOPT_SOCKETFUNCTION and CURLMOPT_TIMERFUNCTION, with the user data of both.
static inline void volley_multi_set_callbacks(CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *user) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, user);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, user);
}
