// What Swift's SIMD types cannot express: a mask of lanes as the bits of an integer (x86's movemask), and a prefetch. Each function does
// only one of the two; the code that uses them is in Swift.
//
// Every x86-64 has SSE2, so no check of the processor is needed. Elsewhere the compiler vectorises the plain loops as well as it can.
#ifndef VOLLEY_SIMD_H
#define VOLLEY_SIMD_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>

static inline uint64_t volley_mask16(__m128i lanes) { return (uint32_t)_mm_movemask_epi8(lanes); }

/// Bit i: byte i of the 64 at `bytes` is `a`.
static inline uint64_t volley_equal(const void *bytes, uint8_t a) {
    const __m128i *lanes = (const __m128i *)bytes;
    const __m128i first = _mm_set1_epi8((char)a);
    uint64_t mask = 0;
    for (int part = 0; part < 4; part++) {
        mask |= volley_mask16(_mm_cmpeq_epi8(_mm_loadu_si128(lanes + part), first)) << (16 * part);
    }
    return mask;
}

/// Bit i: byte i of the 64 at `bytes` is `a`, `b` or `c`.
static inline uint64_t volley_any_of_three(const void *bytes, uint8_t a, uint8_t b, uint8_t c) {
    const __m128i *lanes = (const __m128i *)bytes;
    const __m128i first = _mm_set1_epi8((char)a), second = _mm_set1_epi8((char)b), third = _mm_set1_epi8((char)c);
    uint64_t mask = 0;
    for (int part = 0; part < 4; part++) {
        const __m128i some = _mm_loadu_si128(lanes + part);
        const __m128i found = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(some, first), _mm_cmpeq_epi8(some, second)), _mm_cmpeq_epi8(some, third));
        mask |= volley_mask16(found) << (16 * part);
    }
    return mask;
}

/// Bit i: byte i of the first `count` (at most 64) at `bytes` may separate the parts of a list, or enclose it: it is not a letter, a
/// digit, `_` or `-` of ASCII, nor DEL. Up to 15 more bytes are read.
static inline uint64_t volley_list_marks(const void *bytes, int64_t count) {
    const __m128i *lanes = (const __m128i *)bytes;
    uint64_t mask = 0;
    for (int part = 0; part < 4 && 16 * part < count; part++) {
        const __m128i some = _mm_loadu_si128(lanes + part);
        // ; [ { differ only in these bits, as do < \ | and = ] } and > ^ ~.
        const __m128i alike = _mm_sub_epi8(_mm_or_si128(some, _mm_set1_epi8(0x60)), _mm_set1_epi8('{'));
        // @ and ` differ only in one of these bits, and so do . and /, as well as : ; > and ? in two.
        const __m128i isQuote = _mm_cmpeq_epi8(_mm_or_si128(some, _mm_set1_epi8(0x20)), _mm_set1_epi8('`'));
        const __m128i found = _mm_or_si128(
            _mm_or_si128(
                _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(alike, _mm_set1_epi8(3)), alike), _mm_cmpeq_epi8(_mm_or_si128(some, _mm_set1_epi8(1)), _mm_set1_epi8('/'))),
                isQuote),
            _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(some, _mm_set1_epi8(',')), some), _mm_cmpeq_epi8(_mm_or_si128(some, _mm_set1_epi8(5)), _mm_set1_epi8('?'))));
        // Bytes that are not ASCII already have the high bit.
        mask |= volley_mask16(_mm_or_si128(found, some)) << (16 * part);
    }
    return count < 64 ? mask & (((uint64_t)1 << count) - 1) : mask;
}

/// Bit i: byte i of the 16 at `bytes` ends the plain part of a JSON string: a quote, a backslash or a control character.
static inline uint32_t volley_json_text_end(const void *bytes) {
    const __m128i some = _mm_loadu_si128((const __m128i *)bytes);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(some, _mm_set1_epi8(0x1F)), some);
    const __m128i found = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(some, _mm_set1_epi8('"')), _mm_cmpeq_epi8(some, _mm_set1_epi8('\\'))), control);
    return (uint32_t)volley_mask16(found);
}

/// Bit i: byte i of the 64 at `bytes` is NUL or not ASCII.
static inline uint64_t volley_unusual(const void *bytes) {
    const __m128i *lanes = (const __m128i *)bytes;
    uint64_t mask = 0;
    for (int part = 0; part < 4; part++) {
        const __m128i some = _mm_loadu_si128(lanes + part);
        // NUL gets the high bit, which the others already have.
        mask |= volley_mask16(_mm_or_si128(some, _mm_cmpeq_epi8(some, _mm_setzero_si128()))) << (16 * part);
    }
    return mask;
}

/// Lower-cases 16 hex digits into `target`; returns 0 if one of them is not a hex digit.
static inline int volley_lower_hex(const void *digits, void *target) {
    const __m128i some = _mm_loadu_si128((const __m128i *)digits);
    const __m128i lower = _mm_or_si128(some, _mm_set1_epi8(0x20));
    const __m128i digit = _mm_sub_epi8(some, _mm_set1_epi8('0')), letter = _mm_sub_epi8(lower, _mm_set1_epi8('a'));
    const __m128i isDigit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
    const __m128i isLetter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
    _mm_storeu_si128((__m128i *)target, lower);
    return volley_mask16(_mm_or_si128(isDigit, isLetter)) == 0xFFFF;
}

#else

static inline uint64_t volley_equal(const void *bytes, uint8_t a) {
    const uint8_t *some = (const uint8_t *)bytes;
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) mask |= (uint64_t)(some[i] == a) << i;
    return mask;
}

static inline uint64_t volley_any_of_three(const void *bytes, uint8_t a, uint8_t b, uint8_t c) {
    const uint8_t *some = (const uint8_t *)bytes;
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) mask |= (uint64_t)((some[i] == a) | (some[i] == b) | (some[i] == c)) << i;
    return mask;
}

static inline uint64_t volley_list_marks(const void *bytes, int64_t count) {
    const uint8_t *some = (const uint8_t *)bytes;
    uint64_t mask = 0;
    for (int i = 0; i < 64 && i < count; i++) {
        const uint8_t alike = (uint8_t)((some[i] | 0x60) - '{');
        mask |= (uint64_t)((alike <= 3) | ((some[i] | 0x20) == '`') | (some[i] <= ',') | ((some[i] | 1) == '/') | ((some[i] | 5) == '?') | (some[i] >= 0x80)) << i;
    }
    return mask;
}

static inline uint32_t volley_json_text_end(const void *bytes) {
    const uint8_t *some = (const uint8_t *)bytes;
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++) mask |= (uint32_t)((some[i] == '"') | (some[i] == '\\') | (some[i] < 0x20)) << i;
    return mask;
}

static inline uint64_t volley_unusual(const void *bytes) {
    const uint8_t *some = (const uint8_t *)bytes;
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) mask |= (uint64_t)((some[i] == 0) | (some[i] >= 0x80)) << i;
    return mask;
}

static inline int volley_lower_hex(const void *digits, void *target) {
    const uint8_t *some = (const uint8_t *)digits;
    int valid = 1;
    for (int i = 0; i < 16; i++) {
        const uint8_t lower = some[i] | 0x20;
        valid &= ((uint8_t)(some[i] - '0') <= 9) | ((uint8_t)(lower - 'a') <= 5);
        ((uint8_t *)target)[i] = lower;
    }
    return valid;
}

#endif

/// Prefetches the cache line at `place`, which will be needed soon.
static inline void volley_prefetch(const void *place) { __builtin_prefetch(place); }

#endif
