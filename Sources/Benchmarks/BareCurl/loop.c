#include "BareCurl.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop {
    CURLM *multi;
    struct curl_slist *headers;
    const char *url, *authority_file, *body;
    long next, pushes, accepted, in_flight, failures;
};

static size_t discard(char *data, size_t size, size_t count, void *context) {
    (void)data, (void)context;
    return size * count;
}

// Starts a push. The tokens are like those of a random export: spread over the whole range, so that no simulated answer depends on their
// order.
static void send_out(struct loop *loop, CURL *easy) {
    unsigned long x = (unsigned long)loop->next++ * 0x9E3779B97F4A7C15UL + 0x123456789ABCDEFUL;
    char path[256];
    snprintf(path, sizeof path, "%s/3/device/%016lx%016lx%016lx%016lx", loop->url, x | 1UL << 63, x * 3, x * 5, x * 7);
    curl_easy_setopt(easy, CURLOPT_URL, path);
    curl_multi_add_handle(loop->multi, easy);
    loop->in_flight++;
}

static CURL *handle(struct loop *loop) {
    CURL *easy = curl_easy_init();
    if (!easy) return NULL;
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_CAINFO, loop->authority_file);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, loop->headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, loop->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(loop->body));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    return easy;
}

// Counts finished pushes and reuses each handle while there are pushes left. libcurl resets each stream whose answer has no body, so
// servers that limit resets close the connection now and then. What was lost with it is sent again, up to a tenth of all pushes.
static void harvest(struct loop *loop) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(loop->multi, &left))) {
        CURL *easy = message->easy_handle;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        CURLcode result = message->data.result;
        curl_multi_remove_handle(loop->multi, easy);
        if (result != CURLE_OK || status != 200) {
            if (loop->failures++ < loop->pushes / 10) {
                curl_multi_add_handle(loop->multi, easy);
                continue;
            }
            fprintf(stderr, "bare loop: %s, status %ld\n", curl_easy_strerror(result), status);
        } else {
            loop->accepted++;
        }
        loop->in_flight--;
        if (loop->next < loop->pushes) {
            send_out(loop, easy);
        } else {
            curl_easy_cleanup(easy);
        }
    }
}

static void drive(struct loop *loop) {
    int running;
    while (loop->in_flight) {
        curl_multi_perform(loop->multi, &running);
        harvest(loop);
        if (loop->in_flight) curl_multi_poll(loop->multi, NULL, 0, 100, NULL);
    }
}

long bare_curl_multi(const char *url, const char *authority_file, const char *bearer, const char *topic, const char *body,
                     long pushes, long streams) {
    char line[2048];
    struct loop loop = {.url = url, .authority_file = authority_file, .body = body, .pushes = 1};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    loop.multi = curl_multi_init();
    if (!loop.multi) return -1;
    snprintf(line, sizeof line, "authorization: bearer %s", bearer);
    loop.headers = curl_slist_append(NULL, line);
    snprintf(line, sizeof line, "apns-topic: %s", topic);
    loop.headers = curl_slist_append(loop.headers, line);
    loop.headers = curl_slist_append(loop.headers, "apns-push-type: alert");
    loop.headers = curl_slist_append(loop.headers, "apns-priority: 10");
    loop.headers = curl_slist_append(loop.headers, "Expect:");
    curl_multi_setopt(loop.multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    curl_multi_setopt(loop.multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams);
    // One push goes first on its own: APNs allows one stream until it has accepted a push.
    for (long count = 0; count < streams; count++) {
        CURL *easy = handle(&loop);
        if (!easy) return -1;
        send_out(&loop, easy);
        if (count == 0) {
            drive(&loop);
            loop.pushes = pushes;
        }
    }
    drive(&loop);
    curl_multi_cleanup(loop.multi);
    curl_slist_free_all(loop.headers);
    return loop.accepted;
}
