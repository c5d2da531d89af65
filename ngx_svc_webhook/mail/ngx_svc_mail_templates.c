/*
 * The folder of the templates.
 */

#include "ngx_svc_mail_templates.h"


#define NGX_SVC_MAIL_FILE_MAX    65536      /* bytes of a template */
#define NGX_SVC_MAIL_LOCALE_MAX  16         /* bytes of a locale */


/* The templates of one kind in one language. */

typedef struct {
    ngx_str_t                locale;        /* without data: none */
    ngx_svc_mail_template_t  formats[NGX_SVC_MAIL_FORMATS];
} ngx_svc_mail_variant_t;

struct ngx_svc_mail_templates_s {
    ngx_array_t              kinds[NGX_SVC_MAIL_KINDS];
};

/* The parts of a file's name. */

typedef struct {
    ngx_svc_mail_kind_e      kind;
    ngx_str_t                locale;
    ngx_svc_mail_format_e    format;
} ngx_svc_mail_name_t;


static ngx_int_t ngx_svc_mail_folder(ngx_conf_t *cf,
    ngx_svc_mail_templates_t *t, ngx_str_t *folder);
static ngx_int_t ngx_svc_mail_file(ngx_conf_t *cf,
    ngx_svc_mail_templates_t *t, ngx_str_t *folder, ngx_str_t *name);
static ngx_int_t ngx_svc_mail_name(ngx_str_t *file, ngx_svc_mail_name_t *name);
static ngx_uint_t ngx_svc_mail_locale(const ngx_str_t *locale);
static ngx_int_t ngx_svc_mail_read(ngx_conf_t *cf, ngx_str_t *path,
    ngx_str_t *text);
static ngx_int_t ngx_svc_mail_lines(ngx_pool_t *pool, ngx_str_t *text);
static ngx_svc_mail_variant_t *ngx_svc_mail_variant(const ngx_array_t *kind,
    const u_char *locale, size_t len);
static ngx_svc_mail_variant_t *ngx_svc_mail_language(
    const ngx_array_t *variants, const u_char *locale, size_t len);
static ngx_int_t ngx_svc_mail_complete(ngx_conf_t *cf,
    const ngx_svc_mail_templates_t *t, ngx_str_t *folder);


static const ngx_str_t  ngx_svc_mail_formats[NGX_SVC_MAIL_FORMATS] = {
    ngx_string(".subject"),
    ngx_string(".txt"),
    ngx_string(".html")
};


ngx_svc_mail_templates_t *
ngx_svc_mail_templates(ngx_conf_t *cf, ngx_str_t *folder)
{
    ngx_uint_t                 i;
    ngx_svc_mail_templates_t  *t;

    t = ngx_palloc(cf->pool, sizeof(ngx_svc_mail_templates_t));
    if (t == NULL) {
        return NULL;
    }

    for (i = 0; i < NGX_SVC_MAIL_KINDS; i++) {
        if (ngx_array_init(&t->kinds[i], cf->pool, 4,
                           sizeof(ngx_svc_mail_variant_t))
            != NGX_OK)
        {
            return NULL;
        }
    }

    if (ngx_svc_mail_folder(cf, t, folder) != NGX_OK
        || ngx_svc_mail_complete(cf, t, folder) != NGX_OK)
    {
        return NULL;
    }

    return t;
}


static ngx_int_t
ngx_svc_mail_folder(ngx_conf_t *cf, ngx_svc_mail_templates_t *t,
    ngx_str_t *folder)
{
    ngx_int_t  rc;
    ngx_dir_t  dir;
    ngx_str_t  name;

    if (ngx_open_dir(folder, &dir) == NGX_ERROR) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      "\"svc_mail_templates\": the folder \"%V\" cannot be "
                      "read: \"make install\" puts templates into "
                      "/usr/share/ngx_svc/mail", folder);
        return NGX_ERROR;
    }

    rc = NGX_OK;

    while (rc == NGX_OK && ngx_read_dir(&dir) == NGX_OK) {
        name.data = ngx_de_name(&dir);
        name.len = ngx_de_namelen(&dir);

        if (name.data[0] != '.') {
            rc = ngx_svc_mail_file(cf, t, folder, &name);
        }
    }

    (void) ngx_close_dir(&dir);

    return rc;
}


static ngx_int_t
ngx_svc_mail_file(ngx_conf_t *cf, ngx_svc_mail_templates_t *t,
    ngx_str_t *folder, ngx_str_t *file)
{
    ngx_int_t                rc;
    ngx_str_t                path, text;
    ngx_uint_t               line;
    const char              *why;
    ngx_svc_mail_name_t      name;
    ngx_svc_mail_variant_t  *variant;

    path.len = folder->len + 1 + file->len;
    path.data = ngx_pnalloc(cf->pool, path.len + 1);

    if (path.data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_sprintf(path.data, "%V/%V%Z", folder, file);

    file->data = path.data + folder->len + 1;
    rc = ngx_svc_mail_name(file, &name);

    if (rc == NGX_ABORT) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_mail_templates\": the name of \"%V\" must be that "
                      "of a mail and maybe a language, such as "
                      "\"reset.subject\" or \"reset.de.subject\"", &path);
        return NGX_ERROR;
    }

    if (rc == NGX_DECLINED) {
        return NGX_OK;
    }

    variant = ngx_svc_mail_variant(&t->kinds[name.kind], name.locale.data,
                                   name.locale.len);
    if (variant == NULL) {
        variant = ngx_array_push(&t->kinds[name.kind]);
        if (variant == NULL) {
            return NGX_ERROR;
        }

        ngx_memzero(variant, sizeof(ngx_svc_mail_variant_t));
        variant->locale = name.locale;
    }

    if (ngx_svc_mail_read(cf, &path, &text) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_svc_mail_template(cf->pool, &text, name.format,
                               &variant->formats[name.format], &why, &line);

    if (rc == NGX_DECLINED) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_mail_templates\": %V:%ui %s", &path, line, why);
    }

    return rc == NGX_OK ? NGX_OK : NGX_ERROR;
}


/*
 * Parses a file's name.  NGX_DECLINED: it is no template; NGX_ABORT: it is
 * likely to be a mistake.
 */

static ngx_int_t
ngx_svc_mail_name(ngx_str_t *file, ngx_svc_mail_name_t *name)
{
    u_char      *dot;
    ngx_str_t    rest;
    ngx_uint_t   i;

    for (i = 0; i < NGX_SVC_MAIL_FORMATS; i++) {
        if (file->len > ngx_svc_mail_formats[i].len
            && ngx_strcmp(file->data + file->len - ngx_svc_mail_formats[i].len,
                          ngx_svc_mail_formats[i].data)
               == 0)
        {
            break;
        }
    }

    if (i == NGX_SVC_MAIL_FORMATS) {
        return NGX_DECLINED;
    }

    name->format = i;

    rest.data = file->data;
    rest.len = file->len - ngx_svc_mail_formats[i].len;

    ngx_str_null(&name->locale);
    dot = ngx_strlchr(rest.data, rest.data + rest.len, '.');

    if (dot) {
        name->locale.data = dot + 1;
        name->locale.len = rest.data + rest.len - name->locale.data;
        rest.len = dot - rest.data;

        if (!ngx_svc_mail_locale(&name->locale)) {
            return NGX_ABORT;
        }
    }

    for (i = 0; i < NGX_SVC_MAIL_KINDS; i++) {
        if (rest.len == ngx_svc_mail_kind(i)->len
            && ngx_strncmp(rest.data, ngx_svc_mail_kind(i)->data, rest.len)
               == 0)
        {
            name->kind = i;
            return NGX_OK;
        }
    }

    return NGX_ABORT;
}


/* Returns whether a text is a locale: "de", "de-AT", "zh-Hant". */

static ngx_uint_t
ngx_svc_mail_locale(const ngx_str_t *locale)
{
    u_char  ch;
    size_t  i;

    for (i = 0; i < locale->len; i++) {
        ch = locale->data[i] | 0x20;

        if ((ch < 'a' || ch > 'z')
            && (i < 2 || (locale->data[i] != '-'
                          && (locale->data[i] < '0' || locale->data[i] > '9'))))
        {
            return 0;
        }
    }

    return locale->len >= 2 && locale->len <= NGX_SVC_MAIL_LOCALE_MAX;
}


static ngx_int_t
ngx_svc_mail_read(ngx_conf_t *cf, ngx_str_t *path, ngx_str_t *text)
{
    ssize_t   n;
    ngx_fd_t  fd;

    text->data = ngx_pnalloc(cf->temp_pool, NGX_SVC_MAIL_FILE_MAX + 1);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    fd = ngx_open_file(path->data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                       NGX_FILE_OPEN, 0);

    n = (fd == NGX_INVALID_FILE) ? -1 : ngx_read_fd(fd, text->data,
                                                    NGX_SVC_MAIL_FILE_MAX + 1);
    if (n < 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      "\"svc_mail_templates\": \"%V\" cannot be read; let the "
                      "user that starts nginx read it", path);
    }

    if (fd != NGX_INVALID_FILE) {
        (void) ngx_close_file(fd);
    }

    if (n < 0) {
        return NGX_ERROR;
    }

    if (n > NGX_SVC_MAIL_FILE_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"svc_mail_templates\": \"%V\" has more than %d bytes",
                      path, NGX_SVC_MAIL_FILE_MAX);
        return NGX_ERROR;
    }

    text->len = n;

    return ngx_svc_mail_lines(cf->pool, text);
}


/* Copies a text, with CRLF at the ends of lines. */

static ngx_int_t
ngx_svc_mail_lines(ngx_pool_t *pool, ngx_str_t *text)
{
    u_char  *p, *q, *end;

    p = ngx_pnalloc(pool, 2 * text->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    q = text->data;
    end = q + text->len;
    text->data = p;

    for ( /* void */ ; q < end; q++) {
        if (*q == '\n' && (p == text->data || p[-1] != '\r')) {
            *p++ = '\r';
        }

        *p++ = *q;
    }

    text->len = p - text->data;

    return NGX_OK;
}


/* Finds a language's templates.  NULL: there are none. */

static ngx_svc_mail_variant_t *
ngx_svc_mail_variant(const ngx_array_t *kind, const u_char *locale, size_t len)
{
    ngx_uint_t               i;
    ngx_svc_mail_variant_t  *variant;

    variant = kind->elts;

    for (i = 0; i < kind->nelts; i++) {
        if (variant[i].locale.len == len
            && ngx_strncasecmp(variant[i].locale.data, (u_char *) locale, len)
               == 0)
        {
            return &variant[i];
        }
    }

    return NULL;
}


/* Checks that English is there, and each language has all formats. */

static ngx_int_t
ngx_svc_mail_complete(ngx_conf_t *cf, const ngx_svc_mail_templates_t *t,
    ngx_str_t *folder)
{
    ngx_uint_t               i, k, n;
    ngx_svc_mail_variant_t  *variant;

    for (k = 0; k < NGX_SVC_MAIL_KINDS; k++) {

        if (ngx_svc_mail_variant(&t->kinds[k], NULL, 0) == NULL
            && ngx_svc_mail_variant(&t->kinds[k], (u_char *) "en", 2) == NULL)
        {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"svc_mail_templates\": there is no file "
                          "\"%V/%V%V\"", folder, ngx_svc_mail_kind(k),
                          &ngx_svc_mail_formats[NGX_SVC_MAIL_SUBJECT]);
            return NGX_ERROR;
        }

        variant = t->kinds[k].elts;

        for (i = 0; i < t->kinds[k].nelts * NGX_SVC_MAIL_FORMATS; i++) {
            n = i / NGX_SVC_MAIL_FORMATS;

            if (variant[n].formats[i % NGX_SVC_MAIL_FORMATS].parts.elts) {
                continue;
            }

            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"svc_mail_templates\": there is no file "
                          "\"%V/%V%s%V%V\"", folder, ngx_svc_mail_kind(k),
                          variant[n].locale.len ? "." : "",
                          &variant[n].locale,
                          &ngx_svc_mail_formats[i % NGX_SVC_MAIL_FORMATS]);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


const ngx_svc_mail_template_t *
ngx_svc_mail_templates_find(const ngx_svc_mail_templates_t *templates,
    ngx_svc_mail_kind_e kind, const ngx_str_t *locale)
{
    u_char                        *p, *end, *comma;
    const ngx_array_t             *variants;
    const ngx_svc_mail_variant_t  *variant;

    variants = &templates->kinds[kind];
    variant = NULL;

    end = locale->data + locale->len;

    for (p = locale->data; p < end && variant == NULL; p = comma + 1) {

        comma = ngx_strlchr(p, end, ',');
        if (comma == NULL) {
            comma = end;
        }

        variant = ngx_svc_mail_language(variants, p, comma - p);
    }

    if (variant == NULL) {
        variant = ngx_svc_mail_language(variants, (u_char *) "en", 2);
    }

    return variant->formats;
}


/*
 * Finds the templates for "de-AT", else for "de".  Templates without a
 * language are English.
 */

static ngx_svc_mail_variant_t *
ngx_svc_mail_language(const ngx_array_t *variants, const u_char *locale,
    size_t len)
{
    size_t                   n;
    ngx_svc_mail_variant_t  *variant;

    for (n = len; n; /* void */) {
        variant = ngx_svc_mail_variant(variants, locale, n);
        if (variant) {
            return variant;
        }

        do {
            n--;
        } while (n && locale[n] != '-');
    }

    return len >= 2 && ngx_strncasecmp((u_char *) locale, (u_char *) "en", 2)
                       == 0
           && (len == 2 || locale[2] == '-')
           ? ngx_svc_mail_variant(variants, NULL, 0) : NULL;
}
