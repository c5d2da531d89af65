/*
 * Finds the type of a picture.
 */

#include "ngx_svc_admin_image_format.h"


typedef struct {
    ngx_str_t   magic;
    ngx_uint_t  offset;
    ngx_uint_t  folded;             /* 1: in any case */
    const char *what;
} ngx_svc_image_other_t;


static ngx_uint_t ngx_svc_image_begins(const u_char *data, size_t len,
    const char *magic, size_t magic_len);
static ngx_int_t ngx_svc_image_other(const u_char *data, size_t len,
    ngx_svc_error_t *err);


static const ngx_str_t  ngx_svc_image_types[NGX_SVC_IMAGE_LAST] = {
    ngx_string("image/png"),
    ngx_string("image/jpeg"),
    ngx_string("image/webp"),
};


/* What people send instead; the error names it. */

static const ngx_svc_image_other_t  ngx_svc_image_others[] = {
    { ngx_string("GIF8"), 0, 0, "a GIF image" },
    { ngx_string("BM"), 0, 0, "a BMP image" },
    { ngx_string("II*\0"), 0, 0, "a TIFF image" },
    { ngx_string("MM\0*"), 0, 0, "a TIFF image" },
    { ngx_string("\0\0\1\0"), 0, 0, "an ICO image" },
    { ngx_string("ftypavif"), 4, 0, "an AVIF image" },
    { ngx_string("ftyp"), 4, 0, "a HEIF image or a film" },
    { ngx_string("\xff\x0a"), 0, 0, "a JPEG XL image" },
    { ngx_string("JXL "), 4, 0, "a JPEG XL image" },
    { ngx_string("%PDF"), 0, 0, "a PDF" },
    { ngx_string("PK\3\4"), 0, 0, "a ZIP archive" },
    { ngx_string("<?xml"), 0, 1, "XML or SVG" },
    { ngx_string("<svg"), 0, 1, "SVG" },
    { ngx_string("<"), 0, 0, "XML, SVG or HTML" },
    { ngx_string("--"), 0, 0, "a multipart form" },
    { ngx_string("data:"), 0, 1, "a data: URL" },
    { ngx_string("{"), 0, 0, "JSON" },
    { ngx_null_string, 0, 0, NULL }
};


ngx_int_t
ngx_svc_image_check(const u_char *data, size_t len, ngx_svc_image_type_e *type,
    ngx_svc_error_t *err)
{
#define begins(magic)                                                         \
    ngx_svc_image_begins(data, len, magic, sizeof(magic) - 1)

    if (begins("\x89PNG\r\n\x1a\n")) {
        *type = NGX_SVC_IMAGE_PNG;
        return ngx_svc_image_check_png(data, len, err);
    }

    if (begins("\xff\xd8\xff")) {
        *type = NGX_SVC_IMAGE_JPEG;
        return ngx_svc_image_check_jpeg(data, len, err);
    }

    if (begins("RIFF") && len >= 12 && ngx_memcmp(data + 8, "WEBP", 4) == 0) {
        *type = NGX_SVC_IMAGE_WEBP;
        return ngx_svc_image_check_webp(data, len, err);
    }

#undef begins

    return ngx_svc_image_other(data, len, err);
}


const ngx_str_t *
ngx_svc_image_content_type(ngx_svc_image_type_e type)
{
    return &ngx_svc_image_types[type];
}


static ngx_uint_t
ngx_svc_image_begins(const u_char *data, size_t len, const char *magic,
    size_t magic_len)
{
    return len >= magic_len && ngx_memcmp(data, magic, magic_len) == 0;
}


static ngx_int_t
ngx_svc_image_other(const u_char *data, size_t len, ngx_svc_error_t *err)
{
    const ngx_str_t              *magic;
    const ngx_svc_image_other_t  *other;

    if (len == 0) {
        return ngx_svc_fail(err, NGX_SVC_E_UNSUPPORTED_IMAGE,
                            "The body is empty; it must be a PNG, JPEG or WebP"
                            " image.");
    }

    if (ngx_svc_image_begins(data, len, "\xef\xbb\xbf", 3)) {
        data += 3;
        len -= 3;
    }

    while (len && (*data == ' ' || (*data >= '\t' && *data <= '\r'))) {
        data++;
        len--;
    }

    for (other = ngx_svc_image_others; other->what; other++) {
        magic = &other->magic;

        if (len < other->offset + magic->len) {
            continue;
        }

        if (other->folded
            ? ngx_strncasecmp((u_char *) data, magic->data, magic->len) == 0
            : ngx_memcmp(data + other->offset, magic->data, magic->len) == 0)
        {
            return ngx_svc_fail(err, NGX_SVC_E_UNSUPPORTED_IMAGE,
                                "The body is %s by its first bytes; it must be"
                                " a PNG, JPEG or WebP image.", other->what);
        }
    }

    return ngx_svc_fail(err, NGX_SVC_E_UNSUPPORTED_IMAGE,
                        "The body does not begin as a PNG, JPEG or WebP image"
                        " does.");
}
