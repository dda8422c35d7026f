/* The public data sets that `npgnn fetch` can download. */
#ifndef CLI_PUBLIC_DATASETS_H
#define CLI_PUBLIC_DATASETS_H

#include "download.h"

typedef struct public_dataset {
    const char *name, *about;
    const char *url;    /* of the folder that holds the files, unless the user names a mirror */
    const char *folder; /* where the files are stored, below the data folder */
    const known_file *files;
    int count;
} public_dataset;

extern const public_dataset public_datasets[];
extern const int public_dataset_count;

/* The data set with this name, or NULL. */
const public_dataset *public_dataset_find(const char *name, size_t length);

#endif
