/*
 * Time zones.  t/access_oracle.t tests that all zones of the system have the
 * right time around all changes.
 */

#include "ngx_unit_zone.h"
#include "ngx_svc_time.h"
#include "ngx_svc_zone_load.h"

#include <sys/stat.h>


#define ZONEINFO  "/usr/share/zoneinfo"


typedef struct {
    const char  *footer;
    const char  *at;
    int32_t      offset;
} rule_row_t;


static const rule_row_t  rules[] = {

    { "UTC0", "2026-07-01T00:00:00Z", 0 },
    { "<+0545>-5:45", "2026-07-01T00:00:00Z", 20700 },
    { "<-03>3", "2026-07-01T00:00:00Z", -10800 },
    { "ABC-24:59:59", "2026-07-01T00:00:00Z", 89999 },
    { "ABC+1:2:3", "2026-07-01T00:00:00Z", -3723 },

    { "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18000 },
    { "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14400 },
    { "EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", -14400 },
    { "EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18000 },
    { "EST5EDT4,M3.2.0/2:00:00,M11.1.0/2", "2026-11-01T06:00:00Z", -18000 },

    /* the south, half an hour, around the turn of the year, too */

    { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-12-31T23:59:59Z", 39600 },
    { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2027-01-01T00:00:00Z", 39600 },
    { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-04T14:59:59Z", 39600 },
    { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-04T15:00:00Z", 37800 },

    /* daylight saving time is in winter */

    { "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25T00:59:59Z", 3600 },
    { "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25T01:00:00Z", 0 },
    { "IST-1GMT0,M10.5.0,M3.5.0/1", "2027-01-01T00:00:00Z", 0 },
    { "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-03-29T01:00:00Z", 3600 },

    /* the day before, and days after */

    { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200 },
    { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600 },
    { "EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-27T23:59:59Z", 7200 },
    { "EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 10800 },

    /* all year (RFC 8536, 3.3.1) */

    { "XXX3EDT4,0/0,J365/23", "2026-01-01T03:59:59Z", -14400 },
    { "XXX3EDT4,0/0,J365/23", "2026-12-31T23:59:59Z", -14400 },
    { "XXX3EDT4,0/0,J365/23", "2027-01-01T03:00:00Z", -14400 },
    { "XXX3EDT4,0/0,J365/23", "2028-12-31T12:00:00Z", -14400 },

    /* Jn does not count February 29, n does */

    { "AAA0BBB,J60/0,J300/0", "2027-02-28T23:59:59Z", 0 },
    { "AAA0BBB,J60/0,J300/0", "2027-03-01T00:00:00Z", 3600 },
    { "AAA0BBB,J60/0,J300/0", "2028-02-29T23:59:59Z", 0 },
    { "AAA0BBB,J60/0,J300/0", "2028-03-01T00:00:00Z", 3600 },
    { "AAA0BBB,59/0,300/0", "2028-02-28T23:59:59Z", 0 },
    { "AAA0BBB,59/0,300/0", "2028-02-29T00:00:00Z", 3600 },
    { "AAA0BBB,0/0,365/0", "2028-12-30T22:59:59Z", 3600 },
    { "AAA0BBB,J1/0,J365/0", "2100-02-28T12:00:00Z", 3600 },

    /* a change a week before the year begins */

    { "AAA0BBB,J1/-167,J200/0", "2026-12-25T00:59:59Z", 0 },
    { "AAA0BBB,J1/-167,J200/0", "2026-12-25T01:00:00Z", 3600 },
    { "AAA0BBB,J200/0,J365/167", "2027-01-06T21:59:59Z", 3600 },
    { "AAA0BBB,J200/0,J365/167", "2027-01-06T22:00:00Z", 0 },
};


static const char  *bad_rules[] = {
    "A0", "AB0", "ABC", "ABC25", "ABC1:60", "ABC1:", "ABC1:2:60", "ABC1:2:3:4",
    "<AB>0", "<ABC0", "<A,C>0", "+030", "ABC0DEF", "ABC0DEF1", "ABC0DEF,",
    "ABC0DEF,M3.2.0", "ABC0DEF,M3.2.0,", "ABC0DEF,M3.2.0,M11.1.0,",
    "ABC0DEF,M3.2.0,M11.1.0x", "ABC0DEF,M0.2.0,M11.1.0",
    "ABC0DEF,M13.2.0,M11.1.0", "ABC0DEF,M3.0.0,M11.1.0",
    "ABC0DEF,M3.6.0,M11.1.0", "ABC0DEF,M3.2.7,M11.1.0",
    "ABC0DEF,M3.2,M11.1.0", "ABC0DEF,J0,J365", "ABC0DEF,J366,J365",
    "ABC0DEF,366,0", "ABC0DEF,0/168,5", "ABC0DEF,0/-168,5", "ABC0DEF,0/,5",
    "ABC0DEF,-1,5", "ABC99999999999999999999", "ABC0DEF,99999999999999,5",
    " UTC0", "UTC0 ", ":UTC",
};


static ngx_svc_zone_t *parse(ngx_pool_t *pool, const ngx_unit_zone_t *file);
static int64_t at(const char *text);
static void write_zone(const char *dir, const char *name);
static ngx_svc_zones_t *load(ngx_pool_t *pool, const char *dir);


static void
test_rules(void **state)
{
    char             footer[128];
    ngx_uint_t       i;
    ngx_svc_zone_t  *zone;
    ngx_unit_zone_t  file = { '2', 0, {0}, {0}, 1, {0}, 0, footer };

    for (i = 0; i < ngx_unit_len(rules); i++) {
        snprintf(footer, sizeof(footer), "\n%s\n", rules[i].footer);

        zone = parse(*state, &file);

        if (zone == NULL) {
            fail_msg("%s: refused", rules[i].footer);
        }

        if (ngx_svc_zone_offset(zone, at(rules[i].at)) != rules[i].offset) {
            fail_msg("%s at %s: %d", rules[i].footer, rules[i].at,
                     (int) ngx_svc_zone_offset(zone, at(rules[i].at)));
        }
    }

    for (i = 0; i < ngx_unit_len(bad_rules); i++) {
        snprintf(footer, sizeof(footer), "\n%s\n", bad_rules[i]);

        if (parse(*state, &file) != NULL) {
            fail_msg("%s: taken", bad_rules[i]);
        }
    }
}


static void
test_changes(void **state)
{
    ngx_uint_t       i;
    ngx_svc_zone_t  *zone;
    ngx_unit_zone_t  file = {
        '2', 3, { -100, 0, 100 }, { 1, 2, 1 }, 3, { 60, 3600, -3600 }, 0,
        "\nABC-2\n"
    };

    static const struct {
        int64_t      at;
        int32_t      offset;
    } rows[] = {
        { INT64_MIN, 60 }, { -101, 60 }, { -100, 3600 }, { -1, 3600 },
        { 0, -3600 }, { 99, -3600 }, { 100, 7200 }, { INT64_MAX, 7200 },
    };

    zone = parse(*state, &file);
    assert_non_null(zone);

    for (i = 0; i < ngx_unit_len(rows); i++) {
        assert_int_equal(ngx_svc_zone_offset(zone, rows[i].at),
                         rows[i].offset);
    }

    /* without a rule after the last change */

    file.footer = "\n\n";
    zone = parse(*state, &file);
    assert_non_null(zone);
    assert_int_equal(ngx_svc_zone_offset(zone, 100), 3600);

    /* the first version has 32 bits, and no footer */

    file.version = 0;
    zone = parse(*state, &file);
    assert_non_null(zone);
    assert_int_equal(ngx_svc_zone_offset(zone, -101), 60);
    assert_int_equal(ngx_svc_zone_offset(zone, -100), 3600);
    assert_int_equal(ngx_svc_zone_offset(zone, 50), -3600);
    assert_int_equal(ngx_svc_zone_offset(zone, INT64_MAX), 3600);

    /* times beyond 32 bits */

    file.version = '4';
    file.changes[0] = INT64_MIN;
    file.changes[2] = (int64_t) 1 << 40;
    zone = parse(*state, &file);
    assert_non_null(zone);
    assert_int_equal(ngx_svc_zone_offset(zone, ((int64_t) 1 << 40) - 1),
                     -3600);
    assert_int_equal(ngx_svc_zone_offset(zone, (int64_t) 1 << 40), 3600);
}


static void
test_refused(void **state)
{
    ngx_uint_t  i;

    static const ngx_unit_zone_t  files[] = {
        { '2', 1, { 0 }, { 0 }, 0, { 0 }, 0, "\n\n" },          /* no type */
        { '2', 1, { 0 }, { 1 }, 1, { 0 }, 0, "\n\n" },          /* which? */
        { '2', 2, { 0, 0 }, { 0 }, 1, { 0 }, 0, "\n\n" },       /* order */
        { '2', 2, { 1, 0 }, { 0 }, 1, { 0 }, 0, "\n\n" },
        { '2', 0, { 0 }, { 0 }, 1, { 93600 }, 0, "\n\n" },      /* far off */
        { '2', 0, { 0 }, { 0 }, 1, { -90000 }, 0, "\n\n" },
        { '2', 0, { 0 }, { 0 }, 1, { INT32_MIN }, 0, "\n\n" },
        { '2', 0, { 0 }, { 0 }, 1, { 0 }, 1, "\n\n" },          /* leaps */
        { '2', 0, { 0 }, { 0 }, 1, { 0 }, 0, NULL },            /* footers */
        { '2', 0, { 0 }, { 0 }, 1, { 0 }, 0, "" },
        { '2', 0, { 0 }, { 0 }, 1, { 0 }, 0, "\n" },
        { '2', 0, { 0 }, { 0 }, 1, { 0 }, 0, "\nUTC0" },
        { '2', 0, { 0 }, { 0 }, 1, { 0 }, 0, "UTC0\n" },
    };

    for (i = 0; i < ngx_unit_len(files); i++) {
        if (parse(*state, &files[i]) != NULL) {
            fail_msg("file %u: taken", (unsigned) i);
        }
    }
}


/* Files that are cut anywhere, and files in which a count is too large. */

static void
test_hostile(void **state)
{
    u_char          *copy, data[512];
    size_t           len, i;
    ngx_str_t        name = ngx_string("x");
    ngx_uint_t       block, count;
    ngx_unit_zone_t  file = {
        '2', 2, { 0, 100 }, { 0, 1 }, 2, { 0, 3600 }, 0, "\nABC-2\n"
    };

    len = ngx_unit_zone_file(data, &file) - data;
    assert_non_null(ngx_svc_zone_parse(*state, &name, data, len));

    for (i = 0; i < len; i++) {
        copy = malloc(i + 1);
        assert_non_null(copy);
        memcpy(copy, data, i);

        if (ngx_svc_zone_parse(*state, &name, copy, i) != NULL) {
            fail_msg("cut at %u: taken", (unsigned) i);
        }

        free(copy);
    }

    len = ngx_unit_zone_block(data, &file, 4) - data;

    for (block = 0; block < 2; block++) {
        for (count = 0; count < 6; count++) {
            for (i = 0; i < 4; i++) {
                (void) ngx_unit_zone_file(data, &file);

                data[block * len + 20 + count * 4 + i] = 0xff;

                assert_null(ngx_svc_zone_parse(*state, &name, data,
                                               sizeof(data)));
            }
        }
    }

    (void) ngx_unit_zone_file(data, &file);
    data[len] = 't';
    assert_null(ngx_svc_zone_parse(*state, &name, data, sizeof(data)));
    assert_null(ngx_svc_zone_parse(*state, &name, NULL, 0));
}


static void
test_system(void **state)
{
    ngx_uint_t             i;
    ngx_svc_zones_t       *zones;
    const ngx_svc_zone_t  *zone;

    static const char  *names[] = {
        "UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+12",
        "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "GMT",
        "Africa/Abidjan"
    };

    static const char  *absent[] = {
        "", "utc", "europe/paris", "Europe", "Europe/", "Europe/Pari",
        "Europe/Paris/", "/Europe/Paris", "./Europe/Paris", "localtime",
        "posixrules", "posix/Europe/Paris", "right/Europe/Paris", "zone.tab",
        "tzdata.zi", "Mars/Olympus", "../../../etc/localtime", "~"
    };

    zones = load(*state, ZONEINFO);
    assert_non_null(zones);

    for (i = 0; i < ngx_unit_len(names); i++) {
        zone = ngx_svc_zone_find(zones, (u_char *) names[i], strlen(names[i]));

        if (zone == NULL) {
            fail_msg("%s: absent", names[i]);
        }

        assert_int_equal(ngx_svc_zone_name(zone)->len, strlen(names[i]));
        assert_memory_equal(ngx_svc_zone_name(zone)->data, names[i],
                            strlen(names[i]));
    }

    for (i = 0; i < ngx_unit_len(absent); i++) {
        if (ngx_svc_zone_find(zones, (u_char *) absent[i], strlen(absent[i])))
        {
            fail_msg("%s: there", absent[i]);
        }
    }

    /* a day that did not exist */

    zone = ngx_svc_zone_find(zones, (u_char *) "Pacific/Apia", 12);
    assert_int_equal(ngx_svc_zone_offset(zone, at("2011-12-30T09:59:59Z")),
                     -36000);
    assert_int_equal(ngx_svc_zone_offset(zone, at("2011-12-30T10:00:00Z")),
                     50400);
}


/* Other files in the directory than zones. */

static void
test_directory(void **state)
{
    char              dir[] = "/tmp/ngx_svc_zone_XXXXXX";
    char              path[256], name[80];
    FILE             *f;
    ngx_svc_zones_t  *zones;

    assert_non_null(mkdtemp(dir));

    assert_null(load(*state, dir));

    snprintf(path, sizeof(path), "%s/none", dir);
    assert_null(load(*state, path));

    write_zone(dir, "Some");
    assert_null(load(*state, dir));             /* no UTC */

    write_zone(dir, "UTC");
    write_zone(dir, "Area/Place");
    write_zone(dir, "Area/posix");
    write_zone(dir, "posix/Area/Place");
    write_zone(dir, "right/Area/Place");
    write_zone(dir, "posixrules");
    write_zone(dir, ".hidden");
    write_zone(dir, "sp ace");
    write_zone(dir, "quo\"te");

    memset(name, 'n', sizeof(name));
    name[64] = '\0';
    write_zone(dir, name);
    name[64] = 'n';
    name[65] = '\0';
    write_zone(dir, name);

    /* a link to a file counts, one to a directory would make a loop */

    snprintf(path, sizeof(path), "%s/Link", dir);
    assert_int_equal(symlink("Area/Place", path), 0);
    snprintf(path, sizeof(path), "%s/Area/Up", dir);
    assert_int_equal(symlink("..", path), 0);
    snprintf(path, sizeof(path), "%s/Broken", dir);
    assert_int_equal(symlink("nowhere", path), 0);
    snprintf(path, sizeof(path), "%s/Fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);

    snprintf(path, sizeof(path), "%s/Text", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("TZif", f);
    fclose(f);

    write_zone(dir, "Large");
    snprintf(path, sizeof(path), "%s/Large", dir);
    assert_int_equal(truncate(path, 65536), 0);

    zones = load(*state, dir);
    assert_non_null(zones);

#define there(text)                                                           \
    (ngx_svc_zone_find(zones, (u_char *) text, strlen(text)) != NULL)

    assert_true(there("UTC"));
    assert_true(there("Some"));
    assert_true(there("Area/Place"));
    assert_true(there("Area/posix"));
    assert_true(there("Link"));
    assert_false(there(name));
    name[64] = '\0';
    assert_true(there(name));
    assert_false(there("Area/Up"));
    assert_false(there("Area/Up/UTC"));
    assert_false(there("Broken"));
    assert_false(there("Fifo"));
    assert_false(there("Text"));
    assert_false(there("Large"));
    assert_false(there("posix/Area/Place"));
    assert_false(there("right/Area/Place"));
    assert_false(there("posixrules"));
    assert_false(there(".hidden"));
    assert_false(there("sp ace"));
    assert_false(there("quo\"te"));

    snprintf(path, sizeof(path), "rm -r %s", dir);
    assert_int_equal(system(path), 0);
}


static void
test_memory(void **state)
{
    ngx_int_t         n;
    ngx_pool_t       *pool;
    ngx_svc_zone_t   *zone;
    ngx_unit_zone_t   file = {
        '2', 1, { 0 }, { 0 }, 1, { 0 }, 0, "\nABC-2\n"
    };

    for (n = 0; n < 20; n++) {
        pool = ngx_create_pool(4096, ngx_env_log());
        assert_non_null(pool);

        ngx_env_alloc_limit(n);
        zone = parse(pool, &file);
        ngx_env_alloc_limit(-1);

        ngx_destroy_pool(pool);

        if (zone) {
            break;
        }
    }

    assert_in_range(n, 3, 19);
}


static ngx_svc_zone_t *
parse(ngx_pool_t *pool, const ngx_unit_zone_t *file)
{
    u_char     data[512];
    ngx_str_t  name = ngx_string("Area/Place");

    return ngx_svc_zone_parse(pool, &name, data,
                              ngx_unit_zone_file(data, file) - data);
}


static int64_t
at(const char *text)
{
    int64_t    msec;
    ngx_str_t  str;

    str.data = (u_char *) text;
    str.len = strlen(text);

    assert_int_equal(ngx_svc_time_parse(&str, &msec), NGX_OK);

    return msec / 1000;
}


static void
write_zone(const char *dir, const char *name)
{
    char             path[256], *p;
    FILE            *f;
    u_char           data[512];
    ngx_unit_zone_t  file = {
        '2', 0, { 0 }, { 0 }, 1, { 0 }, 0, "\nABC0\n"
    };

    snprintf(path, sizeof(path), "%s/%s", dir, name);

    for (p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void) mkdir(path, 0700);
        *p = '/';
    }

    f = fopen(path, "w");
    assert_non_null(f);
    fwrite(data, ngx_unit_zone_file(data, &file) - data, 1, f);
    assert_int_equal(fclose(f), 0);
}


static ngx_svc_zones_t *
load(ngx_pool_t *pool, const char *dir)
{
    ngx_str_t  directory;

    directory.data = (u_char *) dir;
    directory.len = strlen(dir);

    return ngx_svc_zones_load(pool, &directory, ngx_env_log());
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        ngx_unit_test(test_rules),
        ngx_unit_test(test_changes),
        ngx_unit_test(test_refused),
        ngx_unit_test(test_hostile),
        ngx_unit_test(test_system),
        ngx_unit_test(test_directory),
        ngx_unit_test(test_memory),
    };

    ngx_env_init();

    return cmocka_run_group_tests_name("zone", tests, NULL, NULL);
}
