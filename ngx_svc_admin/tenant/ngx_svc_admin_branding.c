/*
 * The members of a tenant's branding.  They end up in style sheets: texts that
 * could end a CSS value are refused.
 */

#include "ngx_svc_admin_tenant.h"


#define NGX_SVC_ADMIN_RADIUS  64        /* the greatest number */
#define NGX_SVC_ADMIN_CSS     64        /* bytes of a text */


static ngx_int_t ngx_svc_admin_primary(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_color(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_int_t ngx_svc_admin_radius(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);
static ngx_uint_t ngx_svc_admin_hex(ngx_str_t *text, const char *lengths);
static ngx_uint_t ngx_svc_admin_color_function(ngx_str_t *text);
static ngx_uint_t ngx_svc_admin_color_word(ngx_str_t *text);


/*
 * Other members are allowed, and stay private.  The value of logoUrl is not
 * used.
 */

#define NGX_SVC_ADMIN_COLOR(key)                                              \
    { .name = ngx_string(key),                                                \
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,                                \
      .min = 1,                                                               \
      .max = NGX_SVC_ADMIN_CSS,                                               \
      .check = ngx_svc_admin_color,                                           \
      .offset = offsetof(ngx_svc_admin_tenant_t, any) }

#define NGX_SVC_ADMIN_SWITCH(key)                                             \
    { .name = ngx_string(key),                                                \
      .type = NGX_SVC_T_BOOLEAN|NGX_SVC_T_NULL,                               \
      .offset = offsetof(ngx_svc_admin_tenant_t, any) }

const ngx_svc_member_t  ngx_svc_admin_branding_members[] = {

    { .name = ngx_string("primary"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NULL,
      .check = ngx_svc_admin_primary,
      .offset = offsetof(ngx_svc_admin_tenant_t, any) },

    NGX_SVC_ADMIN_COLOR("primaryHover"),
    NGX_SVC_ADMIN_COLOR("primaryFg"),
    NGX_SVC_ADMIN_COLOR("bg"),
    NGX_SVC_ADMIN_COLOR("surface"),
    NGX_SVC_ADMIN_COLOR("fg"),
    NGX_SVC_ADMIN_COLOR("muted"),
    NGX_SVC_ADMIN_COLOR("border"),
    NGX_SVC_ADMIN_COLOR("danger"),

    { .name = ngx_string("radius"),
      .type = NGX_SVC_T_STRING|NGX_SVC_T_NUMBER|NGX_SVC_T_NULL,
      .max = NGX_SVC_ADMIN_RADIUS,
      .check = ngx_svc_admin_radius,
      .offset = offsetof(ngx_svc_admin_tenant_t, any) },

    NGX_SVC_ADMIN_SWITCH("allowSelfSignup"),
    NGX_SVC_ADMIN_SWITCH("allowPasswordless"),

    ngx_svc_null_member
};


/*
 * CSS Color Module Level 4, 6.1, and the two keywords that are no colours
 * themselves.
 */

static const char  ngx_svc_admin_color_names[] =
    " aliceblue antiquewhite aqua aquamarine azure beige bisque black"
    " blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse"
    " chocolate coral cornflowerblue cornsilk crimson currentcolor cyan"
    " darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey"
    " darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred"
    " darksalmon darkseagreen darkslateblue darkslategray darkslategrey"
    " darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey"
    " dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro"
    " ghostwhite gold goldenrod gray green greenyellow grey honeydew"
    " hotpink indianred indigo ivory khaki lavender lavenderblush"
    " lawngreen lemonchiffon lightblue lightcoral lightcyan"
    " lightgoldenrodyellow lightgray lightgreen lightgrey lightpink"
    " lightsalmon lightseagreen lightskyblue lightslategray"
    " lightslategrey lightsteelblue lightyellow lime limegreen linen"
    " magenta maroon mediumaquamarine mediumblue mediumorchid"
    " mediumpurple mediumseagreen mediumslateblue mediumspringgreen"
    " mediumturquoise mediumvioletred midnightblue mintcream mistyrose"
    " moccasin navajowhite navy oldlace olive olivedrab orange orangered"
    " orchid palegoldenrod palegreen paleturquoise palevioletred"
    " papayawhip peachpuff peru pink plum powderblue purple rebeccapurple"
    " red rosybrown royalblue saddlebrown salmon sandybrown seagreen"
    " seashell sienna silver skyblue slateblue slategray slategrey snow"
    " springgreen steelblue tan teal thistle tomato transparent turquoise"
    " violet wheat white whitesmoke yellow yellowgreen ";


static ngx_int_t
ngx_svc_admin_primary(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_hex(&value->str, "\3\6\10")) {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a colour of 3, 6 or 8 hex digits such "
                        "as \"#0a66c2\".", path);
}


static ngx_int_t
ngx_svc_admin_color(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    if (ngx_svc_admin_hex(&value->str, "\3\4\6\10")
        || ngx_svc_admin_color_function(&value->str)
        || ngx_svc_admin_color_word(&value->str))
    {
        return NGX_OK;
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a CSS colour such as \"#0a66c2\", "
                        "\"rgb(10, 102, 194)\" or \"white\".", path);
}


/* Checks for a number of pixels, or for digits with a unit. */

static ngx_int_t
ngx_svc_admin_radius(const ngx_svc_member_t *member, ngx_svc_value_t *value,
    const char *path, ngx_svc_error_t *err)
{
    u_char       *p, *end;
    ngx_uint_t    i, n;

    static const ngx_str_t  units[] = {
        ngx_string(""), ngx_string("px"), ngx_string("rem"), ngx_string("em"),
        ngx_string("%")
    };

    if (!cJSON_IsString(value->json)) {
        return NGX_OK;
    }

    p = value->str.data;
    end = p + ngx_min(value->str.len, NGX_SVC_ADMIN_CSS);

    for (n = 0; p < end && *p >= '0' && *p <= '9'; p++) {
        n++;
    }

    if (n >= 1 && n <= 3 && end - p > 1 && *p == '.'
        && p[1] >= '0' && p[1] <= '9')
    {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++) { /* void */ }
    }

    for (i = 0; n >= 1 && n <= 3 && i < sizeof(units) / sizeof(units[0]); i++)
    {
        if ((size_t) (value->str.data + value->str.len - p) == units[i].len
            && ngx_memcmp(p, units[i].data, units[i].len) == 0)
        {
            return NGX_OK;
        }
    }

    return ngx_svc_fail(err, NGX_SVC_E_INVALID_VALUE,
                        "\"%s\" must be a number from 0 to %d, or a string "
                        "such as \"8px\", \"0.5rem\" or \"50%%\".", path,
                        NGX_SVC_ADMIN_RADIUS);
}


/* lengths: the allowed numbers of digits, one a byte. */

static ngx_uint_t
ngx_svc_admin_hex(ngx_str_t *text, const char *lengths)
{
    size_t  i;
    u_char  c;

    if (text->len < 2 || text->data[0] != '#'
        || ngx_strchr(lengths, (int) (text->len - 1)) == NULL)
    {
        return 0;
    }

    for (i = 1; i < text->len; i++) {
        c = ngx_tolower(text->data[i]);

        if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
            return 0;
        }
    }

    return 1;
}


/* Checks for one pair of parentheses with numbers, units and separators. */

static ngx_uint_t
ngx_svc_admin_color_function(ngx_str_t *text)
{
    u_char      *p, *end, c;
    ngx_uint_t   i, digits;

    static const ngx_str_t  names[] = {
        ngx_string("rgb("), ngx_string("rgba("), ngx_string("hsl("),
        ngx_string("hsla(")
    };

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (text->len > names[i].len + 1
            && ngx_strncasecmp(text->data, names[i].data, names[i].len) == 0)
        {
            break;
        }
    }

    end = text->data + text->len - 1;

    if (i == sizeof(names) / sizeof(names[0]) || *end != ')') {
        return 0;
    }

    digits = 0;

    for (p = text->data + names[i].len; p < end; p++) {
        c = ngx_tolower(*p);
        digits += c >= '0' && c <= '9';

        if ((c < '0' || c > '9') && (c < 'a' || c > 'z')
            && ngx_strchr(" .,%/+-", c) == NULL)
        {
            return 0;
        }
    }

    return digits >= 3;
}


static ngx_uint_t
ngx_svc_admin_color_word(ngx_str_t *text)
{
    u_char  *p, word[NGX_SVC_ADMIN_CSS + 3];

    p = word;
    *p++ = ' ';
    ngx_strlow(p, text->data, text->len);
    p += text->len;
    *p++ = ' ';
    *p = '\0';

    return ngx_strlchr(text->data, text->data + text->len, ' ') == NULL
           && ngx_strstr(ngx_svc_admin_color_names, (char *) word) != NULL;
}
