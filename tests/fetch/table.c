/* What the tests fetch: the files that server.py makes up. */
#include "../../cli/fetch.h"

static const fetch_file toy[] = {
    {"toy.bin", 300000, "4daf6f9226b62e3577b29f84f99c75d69cd461b9969080ea7ee8f94c140763d6"},
    {"toy.txt", 13, "283de18a92b91eca91b96146822214f63c5a6a08238ab8acf97896a6036b5ab5"},
};

const fetch_set fetch_sets[] = {{"toy", "two files", "https://127.0.0.1:9", "sets", toy, 2}};
const int fetch_set_count = 1;
