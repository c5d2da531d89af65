/*
 * QR codes as SVG.
 */

#include "ngx_svc_qr.h"

#include <qrencode.h>


/* The longest command of the path: "M177 177.5" */
#define NGX_SVC_QR_COMMAND  (sizeof("M177 177.5") - 1)

#define ngx_svc_qr_dark(qr, x, y)                                             \
    ((qr)->data[(y) * (qr)->width + (x)] & 1)


static ngx_int_t ngx_svc_qr_write(ngx_pool_t *pool, const QRcode *qr,
    ngx_str_t *svg);
static u_char *ngx_svc_qr_row(u_char *p, const QRcode *qr, int y);
static ngx_uint_t ngx_svc_qr_commands(const QRcode *qr);


/* A run of dark modules is a piece of a line that is one unit wide. */

static const char  ngx_svc_qr_head[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
    " shape-rendering=\"crispEdges\">"
    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>"
    "<path stroke=\"#000\" d=\"";

static const char  ngx_svc_qr_tail[] = "\"/></svg>";


ngx_int_t
ngx_svc_qr_svg(ngx_pool_t *pool, const ngx_str_t *text, ngx_str_t *svg)
{
    QRcode     *qr;
    ngx_int_t   rc;

    if (text->len == 0 || text->len > NGX_SVC_QR_TEXT_MAX) {
        return NGX_DECLINED;
    }

    /* takes the smallest version with room: any text of this length has one */

    qr = QRcode_encodeData((int) text->len, text->data, 0, QR_ECLEVEL_M);
    if (qr == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_svc_qr_write(pool, qr, svg);

    QRcode_free(qr);

    return rc;
}


static ngx_int_t
ngx_svc_qr_write(ngx_pool_t *pool, const QRcode *qr, ngx_str_t *svg)
{
    int      y, side;
    u_char  *p;

    p = ngx_pnalloc(pool, sizeof(ngx_svc_qr_head) + 2 * NGX_INT_T_LEN
                          + ngx_svc_qr_commands(qr) * NGX_SVC_QR_COMMAND
                          + sizeof(ngx_svc_qr_tail));
    if (p == NULL) {
        return NGX_ERROR;
    }

    side = qr->width + 2 * NGX_SVC_QR_QUIET;

    svg->data = p;
    p = ngx_sprintf(p, ngx_svc_qr_head, side, side);

    for (y = 0; y < qr->width; y++) {
        p = ngx_svc_qr_row(p, qr, y);
    }

    p = ngx_cpymem(p, ngx_svc_qr_tail, sizeof(ngx_svc_qr_tail) - 1);
    svg->len = p - svg->data;

    return NGX_OK;
}


static u_char *
ngx_svc_qr_row(u_char *p, const QRcode *qr, int y)
{
    int  x, from, end;

    end = -1;

    for (x = 0; x < qr->width; x++) {

        if (!ngx_svc_qr_dark(qr, x, y)) {
            continue;
        }

        if (end < 0) {
            p = ngx_sprintf(p, "M%d %d.5", x + NGX_SVC_QR_QUIET,
                            y + NGX_SVC_QR_QUIET);
        } else {
            p = ngx_sprintf(p, "m%d 0", x - end);
        }

        from = x;

        while (x < qr->width && ngx_svc_qr_dark(qr, x, y)) {
            x++;
        }

        p = ngx_sprintf(p, "h%d", x - from);
        end = x;
    }

    return p;
}


/*
 * Returns the number of commands: two for each run of dark modules, a move to
 * its beginning and the line.
 */

static ngx_uint_t
ngx_svc_qr_commands(const QRcode *qr)
{
    int         x, y;
    ngx_uint_t  n;

    n = 0;

    for (y = 0; y < qr->width; y++) {
        for (x = 0; x < qr->width; x++) {
            if (ngx_svc_qr_dark(qr, x, y)
                && (x == 0 || !ngx_svc_qr_dark(qr, x - 1, y)))
            {
                n += 2;
            }
        }
    }

    return n;
}
