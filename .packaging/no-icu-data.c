/* An archive of ICU's data with nothing in it, as ICU's own stubdata.cpp has it for programs that bring none.

   Swift's Foundation brings ICU, whose data (names of countries, calendars, collations of every language) are 34 MB, half of the program.
   Volley asks for none of them: nothing of its own uses Foundation, and GRDB, which does, only where values are dates or are compared as in
   a language. Linked first, this takes the place of the data in lib_FoundationICU.a. The name of the symbol changes with ICU's version, so
   `programs` looks it up. */
#include <stdint.h>

/* The header of every data file of ICU (DataHeader in ucmndata.h), and a table of contents that has no entry. */
__attribute__((aligned(16))) const struct {
    uint16_t headerSize;
    uint8_t magic1, magic2;
    uint16_t infoSize, reservedWord;
    uint8_t isBigEndian, charsetFamily, sizeofUChar, reservedByte;
    uint8_t dataFormat[4], formatVersion[4], dataVersion[4];
    uint8_t padding[8];
    uint32_t entries, first;
} volley_no_icu_data = {
    32, 0xda, 0x27, 20, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 0, 2, 0, {'T', 'o', 'C', 'P'}, {1, 0, 0, 0}, {0, 0, 0, 0}, {0}, 0, 0,
};
