/* Text in HTML and SVG, escaped. */
#include "html_text.h"

#include <limits.h>

void html_write_cut(FILE *out, const char *text, int characters)
{
    for (; *text; text++) {
        if (((unsigned char)*text & 0xC0) != 0x80 && characters-- == 0) { /* the start of a UTF-8 character */
            fputs("…", out);
            return;
        }
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

void html_write(FILE *out, const char *text)
{
    html_write_cut(out, text, INT_MAX);
}
