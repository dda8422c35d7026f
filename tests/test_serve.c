/* The parts of the server that need no socket: requests as text, and the journal with a tear at every byte. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "../cli/json_text.h"
#include "../cli/serve/journal.h"
#include "../cli/serve/request.h"
#include "folder.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- requests ---- */

static int parse(request *out, char why[512], const char *method, const char *target, const char *body)
{
    why[0] = '\0';
    return request_parse(out, why, 512, method, target, body, strlen(body));
}

static void test_queries(void **state)
{
    (void)state;
    request r;
    char why[512];
    assert_int_equal(parse(&r, why, "GET", "/top?node=anna", ""), 200);
    assert_int_equal(r.kind, REQUEST_TOP);
    assert_string_equal(r.name, "anna");
    assert_int_equal(r.k, 10);
    assert_int_equal(r.explain, 0);
    request_free(&r);
    assert_int_equal(parse(&r, why, "GET", "/top?k=3&node=a%26b+c%C3%A9&explain=1", ""), 200);
    assert_string_equal(r.name, "a&b c\xC3\xA9");
    assert_int_equal(r.k, 3);
    assert_int_equal(r.explain, 1);
    request_free(&r);
    assert_int_equal(parse(&r, why, "GET", "/search?q=", ""), 200);
    request_free(&r);
    static const struct {
        const char *method, *target;
        int status;
    } bad[] = {
        {"GET", "/nothing", 404},
        {"GET", "", 404},
        {"POST", "/top", 405},
        {"GET", "/score", 405},
        {"DELETE", "/nodes", 405},
        {"GET", "/top", 400},
        {"GET", "/top?node=", 400},
        {"GET", "/top?node=a&k=0", 400},
        {"GET", "/top?node=a&k=1001", 400},
        {"GET", "/top?node=a&k=x", 400},
        {"GET", "/top?node=a&k=", 400},
        {"GET", "/top?node=a&k=-1", 400},
        {"GET", "/top?node=a&k=+1", 400},
        {"GET", "/top?node=a&k=99999999999999999999", 400},
        {"GET", "/top?node=a&node=b", 400},
        {"GET", "/top?node=a&explain=2", 400},
        {"GET", "/top?node=%4", 400},
        {"GET", "/top?node=%", 400},
        {"GET", "/top?node=%zz", 400},
        {"GET", "/top?node=a%00b", 400},
        {"GET", "/top?node=a&x=1", 400},
        {"GET", "/healthz?node=a", 400},
        {"POST", "/score?k=1", 400},
        {"GET", "/node", 400},
        {"GET", "/search", 400},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        int status = parse(&r, why, bad[i].method, bad[i].target, "");
        if (status != bad[i].status || strlen(why) < 10)
            fail_msg("%s %s: %d '%s'", bad[i].method, bad[i].target, status, why);
        request_free(&r);
    }
    /* a name may have any length that an address has */
    enum { LONG = 9000 };
    char address[LONG + 32] = "/top?node=";
    memset(address + 10, 'x', LONG);
    assert_int_equal(parse(&r, why, "GET", address, ""), 200);
    assert_int_equal(strlen(r.name), LONG);
    request_free(&r);
}

static void test_bodies(void **state)
{
    (void)state;
    request r;
    char why[512];
    assert_int_equal(parse(&r, why, "POST", "/score", "{\"pairs\": [[\"anna\", \"bert\"], [3, \"4\"]]}"), 200);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.ends[0], "anna");
    assert_string_equal(r.ends[1], "bert");
    assert_string_equal(r.ends[2], "3");
    assert_string_equal(r.ends[3], "4");
    request_free(&r);
    assert_int_equal(parse(&r, why, "POST", "/nodes",
                           "{\"nodes\": [{\"age\": 31, \"id\": \"zoe\", \"x\": 0.50, \"in\": true, \"no\": null, "
                           "\"e\": 1E0}, {\"id\": 7}]}"),
                     200);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.nodes[0].name, "zoe");
    static const char *const cells[][2] = {{"age", "31"}, {"x", "0.50"}, {"in", "true"}, {"no", ""}, {"e", "1E0"}};
    assert_int_equal(r.nodes[0].cell_count, COUNT(cells));
    for (size_t c = 0; c < COUNT(cells); c++) {
        assert_string_equal(r.nodes[0].cells[c].column, cells[c][0]);
        assert_string_equal(r.nodes[0].cells[c].text, cells[c][1]);
    }
    assert_string_equal(r.nodes[1].name, "7");
    request_free(&r);
    static const struct {
        const char *target, *body;
    } bad[] = {
        {"/score", ""},
        {"/score", "{"},
        {"/score", "[]"},
        {"/score", "{\"pairs\": 3}"},
        {"/score", "{\"links\": []}"},
        {"/score", "{\"pairs\": [], \"more\": 1}"},
        {"/score", "{\"pairs\": [[\"a\"]]}"},
        {"/score", "{\"pairs\": [[\"a\", \"b\", \"c\"]]}"},
        {"/score", "{\"pairs\": [[\"a\", null]]}"},
        {"/score", "{\"pairs\": [[\"a\", \"\"]]}"},
        {"/score", "{\"pairs\": [\"ab\"]}"},
        {"/score", "{\"pairs\": [], \"pairs\": []}"},
        {"/score", "{\"pairs\": []} x"},
        {"/score", "{\"pairs\": [[\"\\u0000\", \"b\"]]}"},
        {"/links", "{\"pairs\": []}"},
        {"/nodes", "{\"nodes\": [{\"age\": 3}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": \"\"}]}"},
        {"/nodes", "{\"nodes\": [\"zoe\"]}"},
        {"/nodes", "{\"nodes\": [{\"id\": \"zoe\", \"x\": [1]}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": \"zoe\", \"x\": {}}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": [\"zoe\"]}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": true}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": 1.0}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": null}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": 1, \"id\": 2}]}"},
        {"/nodes", "{\"nodes\": [{\"id\": 1}]]"},
        {"/nodes", "{\"nodes\": [{\"id\": 1},]}"},
        {"/nodes", "{\"nodes\": [{\"id\": 1}]"},
        {"/links", "{\"links\": [[1, false]]}"},
        {"/score", "{\"pairs\": [[1.5, 2]]}"},
        {"/score", "{\"pairs\": [[1, 2],]}"},
        {"/score", "{\"pairs\": [[]]}"},
        {"/score", "{}"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        int status = parse(&r, why, "POST", bad[i].target, bad[i].body);
        if (status != 400 || strlen(why) < 10)
            fail_msg("%s %s: %d '%s'", bad[i].target, bad[i].body, status, why);
        request_free(&r);
    }
    char *many = malloc(20 + 8 * (REQUEST_MAX_PAIRS + 1)), *to = many; /* one pair too many */
    to += sprintf(to, "{\"links\":[[1,2]");
    for (int i = 0; i < REQUEST_MAX_PAIRS; i++)
        to += sprintf(to, ",[1,2]");
    sprintf(to, "]}");
    assert_int_equal(parse(&r, why, "POST", "/links", many), 413);
    request_free(&r);
    free(many);
}

/* Bodies as short as they can be for what they hold, and what a journal has of a body. */
static void test_sizes(void **state)
{
    (void)state;
    enum { MOST = 16 * REQUEST_MAX_PAIRS };
    request r;
    char why[512], *text = malloc(MOST), *record;
    assert_non_null(text);
    for (int count = 1; count <= REQUEST_MAX_PAIRS; count = count < 20 ? count + 1 : 5 * count / 2) {
        char *to = text + sprintf(text, "{\"pairs\":[[1,2]");
        for (int i = 1; i < count; i++)
            to += sprintf(to, ",[1,2]");
        sprintf(to, "]}");
        assert_int_equal(parse(&r, why, "POST", "/score", text), 200);
        assert_int_equal(r.count, count);
        assert_string_equal(r.ends[2 * count - 1], "2");
        request_free(&r);
    }
    for (int count = 0; count <= REQUEST_MAX_CELLS + 1; count = count < 20 ? count + 1 : count + 679) {
        char *to = text + sprintf(text, "{\"nodes\":[{\"id\":1");
        for (int i = 0; i < count; i++)
            to += sprintf(to, ",\"\":1");
        to += sprintf(to, "}\n,\r\n{\"id\"\n:2}]}");
        assert_int_equal(parse(&r, why, "POST", "/nodes", text), count > REQUEST_MAX_CELLS ? 413 : 200);
        request_free(&r);
        record = request_record(text, strlen(text));
        assert_non_null(record);
        assert_null(strpbrk(record, "\r\n"));
        int status = request_parse_body(&r, why, sizeof why, REQUEST_KINDS, record, strlen(record));
        assert_int_equal(status, count > REQUEST_MAX_CELLS ? 413 : 200);
        if (status == 200) {
            assert_int_equal(r.kind, REQUEST_NODES);
            assert_int_equal(r.count, 2);
            assert_int_equal(r.nodes[0].cell_count, count);
            assert_string_equal(r.nodes[1].name, "2");
        }
        request_free(&r);
        free(record);
    }
    free(text);
}

/* ---- the journal ---- */

enum { RECORDS = 5 };
static const char *const records[RECORDS] = {"{\"nodes\":[{\"id\":\"zoe\"}]}", "{\"links\":[[\"zoe\",\"a\"]]}", "{}",
                                             "{\"links\":[[\"a\",\"b\\nc\"],[\"d\",\"e\"]]}", "{\"nodes\":[]}"};

typedef struct seen {
    int count, fail_at;
} seen;

static int see(void *user, const char *json, size_t size, char *why, size_t why_size)
{
    seen *s = user;
    if (s->fail_at && s->count + 1 == s->fail_at) {
        snprintf(why, why_size, "no such node");
        return -1;
    }
    assert_true(s->count < RECORDS);
    assert_int_equal(size, strlen(records[s->count]));
    assert_memory_equal(json, records[s->count], size);
    s->count++;
    return 0;
}

static journal *reopen(seen *s, int64_t *dropped, const char *path)
{
    char why[512] = "";
    journal *j = NULL;
    *s = (seen){0};
    if (journal_open(&j, dropped, path, 0x1234, see, s, why, sizeof why) != 0)
        fail_msg("%s", why);
    return j;
}

static size_t read_file(char *text, size_t size, const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t got = fread(text, 1, size, file);
    fclose(file);
    return got;
}

static void test_journal(void **state)
{
    (void)state;
    char path[4096], why[512], whole[1024], now[1024];
    size_t ends[RECORDS + 1], size;
    int64_t dropped, count, bytes;
    seen s;
    snprintf(path, sizeof path, "%s", path_of("journal"));
    journal *j = reopen(&s, &dropped, path), *other = NULL;
    ends[0] = read_file(whole, sizeof whole, path);
    for (int i = 0; i < RECORDS; i++) {
        int64_t number = journal_append(j, records[i], strlen(records[i]));
        assert_int_equal(number, i + 1);
        assert_int_equal(journal_sync(j, number), 0);
        ends[i + 1] = read_file(whole, sizeof whole, path);
        assert_true(ends[i + 1] > ends[i]);
    }
    size = ends[RECORDS];
    journal_counts(&count, &bytes, j);
    assert_int_equal(count, RECORDS);
    assert_int_equal(bytes, size);
    assert_int_equal(journal_open(&other, &dropped, path, 0x1234, see, &s, why, sizeof why), -1);
    assert_non_null(strstr(why, "another server"));
    journal_close(j);

    for (size_t cut = 0; cut <= size; cut++) { /* torn after every byte */
        int complete = 0;
        while (complete < RECORDS && ends[complete + 1] <= cut)
            complete++;
        write_whole(path, whole, cut);
        j = reopen(&s, &dropped, path);
        assert_int_equal(s.count, complete);
        assert_int_equal(dropped, cut < ends[0] ? 0 : cut - ends[complete]);
        /* what comes next is whole again */
        if (complete < RECORDS) {
            int64_t number = journal_append(j, records[complete], strlen(records[complete]));
            assert_int_equal(journal_sync(j, number), 0);
        }
        journal_close(j);
        size_t next = complete < RECORDS ? ends[complete + 1] : size;
        assert_int_equal(read_file(now, sizeof now, path), next);
        assert_memory_equal(now, whole, next);
    }
    for (size_t at = 0; at < size; at++) { /* every byte damaged: never a wrong record */
        memcpy(now, whole, size);
        now[at] ^= 1;
        write_whole(path, now, size);
        s = (seen){0};
        j = NULL;
        int code = journal_open(&j, &dropped, path, 0x1234, see, &s, why, sizeof why);
        /* in the last record, and in the line break before it, damage looks like a tear */
        assert_true(at + 1 < ends[RECORDS - 1] ? code == -1 : code == 0 && s.count >= RECORDS - 2 && dropped > 0);
        journal_close(j);
    }
    write_whole(path, whole, size);
    s = (seen){.fail_at = 2};
    assert_int_equal(journal_open(&j, &dropped, path, 0x1234, see, &s, why, sizeof why), -1);
    assert_string_equal(why, "record 2: no such node");
    assert_int_equal(journal_open(&j, &dropped, path, 0x9999, see, &s, why, sizeof why), -1);
    assert_non_null(strstr(why, "another graph"));
    assert_int_equal(journal_open(&j, &dropped, "/nowhere/journal", 1, see, &s, why, sizeof why), -1);
    assert_int_equal(read_file(now, sizeof now, path), size); /* a refusal changes nothing */
    unlink(path);
}

/* A disk that is full: the record is not acknowledged, nor is any later one. */
static void test_full_disk(void **state)
{
    (void)state;
    char why[512];
    int64_t dropped;
    seen s = {0};
    journal *j = NULL;
    if (access("/dev/full", W_OK) != 0)
        skip();
    /* the header cannot be written */
    assert_int_equal(journal_open(&j, &dropped, "/dev/full", 1, see, &s, why, sizeof why), -1);
    assert_non_null(strstr(why, "cannot write"));
}

/* Numbers of answers are to the letter those of printf: floats of every size, those next to powers of ten, and
 * halves. */
static void test_numbers(void **state)
{
    (void)state;
    char expected[64], text[64];
    uint32_t bits = 0;
    float value = 0;
    for (int i = 0; i < 300000; i++) {
        if (i % 3 == 0)
            bits += 85021; /* patterns of every exponent */
        memcpy(&value, &bits, sizeof value);
        if (i % 3 == 1) { /* around 10^-20 ... 10^12 */
            value = powf(10, (float)(i % 33 - 20));
            for (int step = i % 11; step > 0; step--)
                value = nextafterf(value, i % 2 ? INFINITY : 0);
        }
        if (i % 3 == 2) /* few digits, halves of the ninth among them */
            value = (float)(i % 2048 * (i % 5 + 1)) / (float)(1 << i % 24) * (i % 2 ? 1 : -1);
        snprintf(expected, sizeof expected, "%.9g", (double)value);
        char *end = json_text_put_number(text, value);
        assert_true(end - text < JSON_TEXT_NUMBER);
        *end = '\0';
        if (strcmp(text, expected) != 0)
            fail_msg("%s instead of %s", text, expected);
    }
}

/* A text is the same in memory as in a file, of any length. */
static void test_texts(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a", "\"", "\\", "\x01", "\x1f", "\xc3\xa4", "\xff", "\xf0\x9f\x98\x80", "\xed\xa0\x80"};
    static const char *const expected[] = {
        "a", "\\\"", "\\\\", "\\u0001", "\\u001f", "\xc3\xa4", "\\ufffd", "\xf0\x9f\x98\x80", "\\ufffd\\ufffd\\ufffd"};
    enum { PIECES = sizeof pieces / sizeof pieces[0] };
    char text[600] = "", wanted[1500] = "\"", put[1500 + 8];
    for (int i = 0; i < 150; i++) {
        strcat(text, pieces[i * 7 % PIECES]);
        strcat(wanted, expected[i * 7 % PIECES]);
        size_t length = strlen(wanted);
        char *end = json_text_put(put, text);
        assert_int_equal(end - put, length + 1);
        assert_memory_equal(put, wanted, length);
        assert_int_equal(end[-1], '"');
        char *written = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&written, &size);
        assert_non_null(file);
        json_text_write(file, text);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(size, end - put);
        assert_memory_equal(written, put, size);
        free(written);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries), cmocka_unit_test(test_bodies),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_journal), cmocka_unit_test(test_full_disk), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
