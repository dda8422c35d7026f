/* Text in HTML and SVG. */
#ifndef CLI_HTML_TEXT_H
#define CLI_HTML_TEXT_H

#include <stdio.h>

/* Writes a text (UTF-8), escaped for HTML and SVG, also within quoted attributes. */
void html_write(FILE *out, const char *text);

/* The same, at most so many characters, and an ellipsis where it was cut. */
void html_write_cut(FILE *out, const char *text, int characters);

#endif
