/* What the tests fetch: the files that server.py makes up. */
#include "../../cli/public_datasets.h"

static const known_file toy[] = {
    {"toy.bin", 300000, "4daf6f9226b62e3577b29f84f99c75d69cd461b9969080ea7ee8f94c140763d6"},
    {"toy.txt", 13, "283de18a92b91eca91b96146822214f63c5a6a08238ab8acf97896a6036b5ab5"},
};

const public_dataset public_datasets[] = {{"toy", "two files", "https://127.0.0.1:9", "sets", toy, 2}};
const int public_dataset_count = 1;
