#include "BareCurl.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop {
    CURLM *multi;
    struct curl_slist *headers;
    const char *url, *authority_file, *body;
    // What follows the target in the body, where the body names it; NULL where the path does.
    const char *body_end;
    long next, pushes, accepted, in_flight, failures;
};

enum { target_length = 22 + 7 + 134 };

static size_t discard(char *data, size_t size, size_t count, void *context) {
    (void)data, (void)context;
    return size * count;
}

// Starts a push. The tokens are like those of a random export: spread over the whole range, so that no simulated answer depends on their
// order.
static void send_out(struct loop *loop, CURL *easy) {
    unsigned long x = (unsigned long)loop->next++ * 0x9E3779B97F4A7C15UL + 0x123456789ABCDEFUL;
    if (loop->body_end) {
        char *body;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
        char start[17];
        snprintf(start, sizeof start, "%016lx", x | 1UL << 63);
        memcpy(body + strlen(loop->body), start, 16);
    } else {
        char path[256];
        snprintf(path, sizeof path, "%s/3/device/%016lx%016lx%016lx%016lx", loop->url, x | 1UL << 63, x * 3, x * 5, x * 7);
        curl_easy_setopt(easy, CURLOPT_URL, path);
    }
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
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    if (loop->body_end) {
        size_t start = strlen(loop->body), end = strlen(loop->body_end);
        char *body = malloc(start + target_length + end + 1);
        if (!body) return NULL;
        // A registration token: 22 characters, and a signature that is the same for all.
        memcpy(body, loop->body, start);
        memset(body + start, '1', target_length);
        memcpy(body + start + 22, ":APA91b", 7);
        memcpy(body + start + target_length, loop->body_end, end + 1);
        curl_easy_setopt(easy, CURLOPT_URL, loop->url);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)(start + target_length + end));
    } else {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, loop->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(loop->body));
    }
    return easy;
}

static void release(struct loop *loop, CURL *easy) {
    char *body = NULL;
    if (loop->body_end) curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
    curl_easy_cleanup(easy);
    free(body);
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
            release(loop, easy);
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

static void add_header(struct loop *loop, const char *name, const char *value) {
    char line[2048];
    snprintf(line, sizeof line, "%s: %s", name, value);
    loop->headers = curl_slist_append(loop->headers, line);
}

static long run(struct loop *loop, long pushes, long streams) {
    loop->pushes = 1;
    loop->headers = curl_slist_append(loop->headers, "Expect:");
    curl_multi_setopt(loop->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    curl_multi_setopt(loop->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams);
    // One push goes first on its own: APNs allows one stream until it has accepted a push.
    for (long count = 0; count < streams; count++) {
        CURL *easy = handle(loop);
        if (!easy) return -1;
        send_out(loop, easy);
        if (count == 0) {
            drive(loop);
            loop->pushes = pushes;
        }
    }
    drive(loop);
    curl_multi_cleanup(loop->multi);
    curl_slist_free_all(loop->headers);
    return loop->accepted;
}

long bare_curl_multi(const char *url, const char *authority_file, const char *bearer, const char *topic, const char *body,
                     long pushes, long streams) {
    char value[2048];
    struct loop loop = {.url = url, .authority_file = authority_file, .body = body};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    loop.multi = curl_multi_init();
    if (!loop.multi) return -1;
    snprintf(value, sizeof value, "bearer %s", bearer);
    add_header(&loop, "authorization", value);
    add_header(&loop, "apns-topic", topic);
    add_header(&loop, "apns-push-type", "alert");
    add_header(&loop, "apns-priority", "10");
    return run(&loop, pushes, streams);
}

long bare_curl_calls(const char *url, const char *authority_file, const char *authorization, const char *body_start,
                     const char *body_end, long pushes, long streams) {
    struct loop loop = {.url = url, .authority_file = authority_file, .body = body_start, .body_end = body_end};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    loop.multi = curl_multi_init();
    if (!loop.multi) return -1;
    add_header(&loop, "authorization", authorization);
    add_header(&loop, "content-type", "application/json");
    return run(&loop, pushes, streams);
}
