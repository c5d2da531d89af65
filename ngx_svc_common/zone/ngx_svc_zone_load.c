/*
 * Reads a directory of time zones, as the package tzdata installs it.
 */

#include "ngx_svc_zone_load.h"
#include "ngx_svc_zone_set.h"

#include <dirent.h>


#define NGX_SVC_ZONE_MAX        4096    /* zones, at most */
#define NGX_SVC_ZONE_ENTRIES    65536   /* files that are looked at, at most */
#define NGX_SVC_ZONE_DEPTH      8       /* of directories, at most */
#define NGX_SVC_ZONE_FILE       65536   /* bytes of the buffer for a file */


typedef struct {
    ngx_pool_t   *pool;
    ngx_log_t    *log;
    ngx_array_t   zones;                /* ngx_svc_zone_t * */
    ngx_uint_t    nentries;
    size_t        root;                 /* where names begin in the path */
    size_t        len;
    u_char        path[NGX_MAX_PATH];   /* NUL-terminated */
    u_char        data[NGX_SVC_ZONE_FILE];
} ngx_svc_zone_load_t;


static ngx_int_t ngx_svc_zones_check(ngx_svc_zones_t *zones,
    ngx_str_t *directory, ngx_log_t *log);
static ngx_int_t ngx_svc_zone_load_dir(ngx_svc_zone_load_t *load,
    ngx_uint_t depth);
static ngx_int_t ngx_svc_zone_load_entry(ngx_svc_zone_load_t *load,
    const char *name, ngx_uint_t depth);
static ngx_uint_t ngx_svc_zone_load_skips(ngx_svc_zone_load_t *load,
    const char *name);
static ngx_int_t ngx_svc_zone_load_file(ngx_svc_zone_load_t *load);
static ssize_t ngx_svc_zone_load_read(ngx_svc_zone_load_t *load);


ngx_svc_zones_t *
ngx_svc_zones_load(ngx_pool_t *pool, ngx_str_t *directory, ngx_log_t *log)
{
    ngx_int_t             rc;
    ngx_svc_zones_t      *zones;
    ngx_svc_zone_load_t  *load;

    static ngx_uint_t     generation;

    zones = ngx_palloc(pool, sizeof(ngx_svc_zones_t));
    load = ngx_alloc(sizeof(ngx_svc_zone_load_t), log);

    if (zones == NULL || load == NULL) {
        rc = NGX_ERROR;
        goto done;
    }

    load->pool = pool;
    load->log = log;
    load->nentries = 0;
    load->len = directory->len;

    if (load->len >= NGX_MAX_PATH
        || ngx_array_init(&load->zones, pool, 1024, sizeof(ngx_svc_zone_t *))
           != NGX_OK)
    {
        rc = NGX_ERROR;
        goto done;
    }

    *ngx_cpymem(load->path, directory->data, directory->len) = '\0';
    load->root = load->len + 1;

    rc = ngx_svc_zone_load_dir(load, 0);

    if (rc != NGX_OK) {
        goto done;
    }

    zones->zones = load->zones.elts;
    zones->n = load->zones.nelts;
    zones->generation = ++generation;

    ngx_svc_zones_sort(zones);

    rc = ngx_svc_zones_check(zones, directory, log);

done:

    if (load) {
        ngx_free(load);
    }

    return rc == NGX_OK ? zones : NULL;
}


/* A window that names no zone uses "UTC", which must be there. */

static ngx_int_t
ngx_svc_zones_check(ngx_svc_zones_t *zones, ngx_str_t *directory,
    ngx_log_t *log)
{
    if (ngx_svc_zone_find(zones, (u_char *) "UTC", 3)) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, log, 0,
                  "there is no time zone \"UTC\" in \"%V\": install the "
                  "package tzdata, or let svc_zoneinfo name a directory of "
                  "TZif files", directory);

    return NGX_ERROR;
}


static ngx_int_t
ngx_svc_zone_load_dir(ngx_svc_zone_load_t *load, ngx_uint_t depth)
{
    DIR            *dir;
    ngx_int_t       rc;
    struct dirent  *entry;

    dir = opendir((char *) load->path);

    if (dir == NULL) {
        ngx_log_error(NGX_LOG_EMERG, load->log, ngx_errno,
                      "the directory of time zones \"%s\" cannot be read: "
                      "install the package tzdata, or let svc_zoneinfo name "
                      "another directory", load->path);
        return NGX_ERROR;
    }

    rc = NGX_OK;

    while (rc == NGX_OK) {
        entry = readdir(dir);

        if (entry == NULL) {
            break;
        }

        rc = ngx_svc_zone_load_entry(load, entry->d_name, depth);
    }

    (void) closedir(dir);

    return rc;
}


static ngx_int_t
ngx_svc_zone_load_entry(ngx_svc_zone_load_t *load, const char *name,
    ngx_uint_t depth)
{
    size_t       len, added;
    ngx_int_t    rc;
    struct stat  st;

    if (ngx_svc_zone_load_skips(load, name)) {
        return NGX_OK;
    }

    if (++load->nentries > NGX_SVC_ZONE_ENTRIES
        || load->zones.nelts == NGX_SVC_ZONE_MAX)
    {
        *(load->path + load->root - 1) = '\0';

        ngx_log_error(NGX_LOG_EMERG, load->log, 0,
                      "\"%s\" is no directory of time zones: it has more than "
                      "%d files, or %d zones", load->path,
                      NGX_SVC_ZONE_ENTRIES, NGX_SVC_ZONE_MAX);
        return NGX_ERROR;
    }

    len = load->len;
    added = ngx_strlen(name) + 1;

    if (len + added >= NGX_MAX_PATH) {
        return NGX_OK;
    }

    load->path[len] = '/';
    ngx_memcpy(load->path + len + 1, name, added);
    load->len = len + added;

    /* links to directories are not followed: there could be a loop */

    if (lstat((char *) load->path, &st) == -1) {
        rc = NGX_OK;

    } else if (S_ISDIR(st.st_mode)) {
        rc = depth < NGX_SVC_ZONE_DEPTH
             ? ngx_svc_zone_load_dir(load, depth + 1) : NGX_OK;

    } else {
        rc = ngx_svc_zone_load_file(load);
    }

    load->len = len;
    load->path[len] = '\0';

    return rc;
}


/*
 * Returns 1 for names that are not of the IANA database: directories that have
 * the same zones once more, with leap seconds or without, and the zone of this
 * machine.
 */

static ngx_uint_t
ngx_svc_zone_load_skips(ngx_svc_zone_load_t *load, const char *name)
{
    ngx_uint_t   i;
    const char  *p;

    static const char  *names[] = {
        "posix", "right", "localtime", "posixrules"
    };

    for (p = name; *p; p++) {
        if (!(*p >= '0' && *p <= '9')
            && !((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')
            && *p != '+' && *p != '-' && *p != '_')
        {
            return 1;
        }
    }

    if (load->len + 1 > load->root) {
        return 0;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ngx_strcmp(name, names[i]) == 0) {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_zone_load_file(ngx_svc_zone_load_t *load)
{
    ssize_t           n;
    ngx_str_t         name;
    ngx_svc_zone_t   *zone, **slot;

    name.data = load->path + load->root;
    name.len = load->len - load->root;

    if (name.len > NGX_SVC_ZONE_NAME_MAX) {
        return NGX_OK;
    }

    n = ngx_svc_zone_load_read(load);

    if (n <= 0) {
        return NGX_OK;
    }

    zone = ngx_svc_zone_parse(load->pool, &name, load->data, n);

    if (zone == NULL) {
        return NGX_OK;
    }

    slot = ngx_array_push(&load->zones);
    if (slot == NULL) {
        return NGX_ERROR;
    }

    *slot = zone;

    return NGX_OK;
}


/* A file that fills the buffer is no TZif file. */

static ssize_t
ngx_svc_zone_load_read(ngx_svc_zone_load_t *load)
{
    int          fd;
    ssize_t      n;
    struct stat  st;

    /* the open does not block: it would wait for the other end of a FIFO */

    fd = open((char *) load->path, O_RDONLY|O_NONBLOCK|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    n = -1;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
        && st.st_size < NGX_SVC_ZONE_FILE)
    {
        n = read(fd, load->data, NGX_SVC_ZONE_FILE);
    }

    (void) close(fd);

    return n;
}
