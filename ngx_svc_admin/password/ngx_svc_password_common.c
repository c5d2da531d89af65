/*
 * Passwords that attackers try first.
 */

#include "ngx_svc_password_common.h"

#include <openssl/crypto.h>


#define NGX_SVC_PASSWORD_ROW   3        /* the least length of a row */
#define NGX_SVC_PASSWORD_MANY  (NGX_SVC_PASSWORD_PIECES + 1)


/*
 * The least number of pieces that the first i characters are made of: bare[i]
 * of digits and symbols alone, known[i] with something else among them.
 */

typedef struct {
    ngx_svc_password_chars_t  text;     /* in lower case */
    u_char                    bare[NGX_SVC_PASSWORD_CHARS + 1];
    u_char                    known[NGX_SVC_PASSWORD_CHARS + 1];
} ngx_svc_password_pieces_t;


static void ngx_svc_password_pieces(ngx_svc_password_pieces_t *p);
static ngx_uint_t ngx_svc_password_digits(const ngx_svc_password_chars_t *text);
static void ngx_svc_password_known(ngx_svc_password_pieces_t *p, ngx_uint_t i,
    ngx_uint_t least, ngx_uint_t len);
static ngx_uint_t ngx_svc_password_known_word(
    const ngx_svc_password_chars_t *text, ngx_uint_t i, const wchar_t *word);
static ngx_uint_t ngx_svc_password_looks_like(wint_t c, wint_t letter);
static void ngx_svc_password_row(ngx_svc_password_pieces_t *p, ngx_uint_t i,
    const wchar_t *row);
static void ngx_svc_password_repeat(ngx_svc_password_pieces_t *p, ngx_uint_t i,
    ngx_uint_t period);


/* Words, in lower case. */

static const wchar_t *const  ngx_svc_password_words[] = {

    /* names of passwords, and words that stand for one */

    L"password", L"passwort", L"passwd", L"passw", L"pass", L"word", L"pwd",
    L"parola", L"senha", L"contrasena", L"contrase\u00f1a", L"motdepasse",
    L"mot", L"de", L"passe", L"wachtwoord", L"haslo", L"kennwort",
    L"\u043f\u0430\u0440\u043e\u043b\u044c",
    L"\u5bc6\u7801", L"\u30d1\u30b9\u30ef\u30fc\u30c9",
    L"secret", L"geheim", L"private", L"secure", L"security", L"letmein",
    L"opensesame", L"open", L"sesame", L"changeme", L"change", L"changeit",
    L"default", L"trustno", L"whatever", L"nothing", L"blank", L"access",
    L"login", L"logon", L"signin", L"key",

    /* roles, and things that are set up */

    L"admin", L"administrator", L"root", L"user", L"username", L"guest",
    L"master", L"manager", L"owner", L"operator", L"support", L"service",
    L"test", L"tester", L"testing", L"demo", L"example", L"sample", L"temp",
    L"temporary", L"dummy", L"foobar", L"foo", L"bar", L"company", L"office",
    L"server", L"database", L"network", L"computer", L"internet", L"google",
    L"microsoft", L"windows", L"linux", L"oracle", L"cisco", L"apple",
    L"samsung", L"facebook", L"account", L"new", L"my", L"the", L"is", L"me",

    /* greetings and feelings */

    L"welcome", L"willkommen", L"bienvenue", L"bienvenido", L"hello", L"hallo",
    L"bonjour", L"hola", L"ciao", L"salut", L"iloveyou", L"loveyou", L"love",
    L"lovely", L"lover", L"you", L"tequiero", L"jetaime", L"ichliebedich",
    L"liebe", L"amor", L"teamo", L"sunshine", L"soleil", L"angel", L"princess",
    L"princesa", L"babygirl", L"baby", L"honey", L"sweet", L"cutie", L"forever",
    L"friend", L"friends", L"family", L"happy", L"lucky", L"freedom", L"sexy",
    L"fuckyou", L"fuck", L"bitch", L"asshole", L"jesus", L"god", L"christ",
    L"blessed", L"heaven",

    /* things that people like */

    L"dragon", L"monkey", L"tiger", L"lion", L"eagle", L"panther", L"wolf",
    L"butterfly", L"flower", L"rainbow", L"chocolate", L"cookie", L"banana",
    L"orange", L"pepper", L"ginger", L"purple", L"silver", L"golden",
    L"diamond", L"shadow", L"hunter", L"ranger", L"killer", L"ninja",
    L"warrior", L"phoenix", L"superman", L"batman", L"spiderman", L"starwars",
    L"pokemon", L"naruto", L"minecraft", L"matrix", L"gandalf", L"merlin",
    L"magic", L"football", L"fussball", L"futbol", L"soccer", L"baseball",
    L"basketball", L"hockey", L"golf", L"yankees", L"liverpool", L"chelsea",
    L"arsenal", L"barcelona", L"juventus", L"schalke", L"mustang", L"ferrari",
    L"porsche", L"mercedes", L"corvette", L"harley", L"guitar", L"music",
    L"metallica", L"slipknot",

    /* names */

    L"michael", L"jordan", L"jennifer", L"jessica", L"ashley", L"michelle",
    L"daniel", L"charlie", L"thomas", L"andrew", L"joshua", L"robert",
    L"matthew", L"george", L"nicole", L"andrea", L"maria", L"max", L"buster",
    L"maggie", L"bailey", L"america", L"london", L"berlin", L"paris",

    /* words of a forced change */

    L"spring", L"summer", L"autumn", L"fall", L"winter", L"sommer", L"herbst",
    L"monday", L"tuesday", L"wednesday", L"thursday", L"friday", L"saturday",
    L"sunday", L"january", L"february", L"march", L"april", L"may", L"june",
    L"july", L"august", L"september", L"october", L"november", L"december",
    NULL
};


/* Keys beside each other: along rows, across them, on the number pad. */

static const wchar_t *const  ngx_svc_password_rows[] = {
    L"01234567890", L"abcdefghijklmnopqrstuvwxyz",
    L"qwertyuiop[]", L"asdfghjkl;'", L"zxcvbnm,./", L"!@#$%^&*()_+",
    L"qwertzuiop", L"yxcvbnm", L"azertyuiop", L"qsdfghjklm", L"wxcvbn",
    L"!\"\u00a7$%&/()=", L"\u0439\u0446\u0443\u043a\u0435\u043d\u0433",
    L"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/", L"1qay2wsx3edc",
    L"!qaz@wsx#edc$rfv%tgb", L"qazwsxedcrfvtgbyhnujmikolp",
    L"1q2w3e4r5t6y7u8i9o0p", L"q1w2e3r4t5y6u7i8o9p0", L"1a2b3c4d5e6f",
    L"a1b2c3d4e5f6", L"!1@2#3$4%5", L"1!2@3#4$5%", L"147258369", L"159357",
    L"789456123", L"13579", L"2468", NULL
};


ngx_uint_t
ngx_svc_password_common(const ngx_svc_password_chars_t *password)
{
    ngx_uint_t                 i, common;
    ngx_svc_password_pieces_t  p;

    if (ngx_svc_password_digits(password)) {
        return 1;
    }

    p.text.n = password->n;

    for (i = 0; i < password->n; i++) {
        p.text.c[i] = ngx_svc_password_lower(password->c[i]);
    }

    ngx_svc_password_pieces(&p);

    common = (p.known[password->n] <= NGX_SVC_PASSWORD_PIECES);

    OPENSSL_cleanse(&p, sizeof(ngx_svc_password_pieces_t));

    return common;
}


static ngx_uint_t
ngx_svc_password_digits(const ngx_svc_password_chars_t *text)
{
    ngx_uint_t  i;

    for (i = 0; i < text->n && ngx_svc_password_is_digit(text->c[i]); i++) {
        /* void */
    }

    return i == text->n && i <= NGX_SVC_PASSWORD_DIGITS;
}


/* Goes on from each place that can be reached, by each piece from there. */

static void
ngx_svc_password_pieces(ngx_svc_password_pieces_t *p)
{
    wint_t                 c;
    ngx_uint_t             i, period;
    const wchar_t *const  *s;

    ngx_memset(p->bare, NGX_SVC_PASSWORD_MANY, sizeof(p->bare));
    ngx_memset(p->known, NGX_SVC_PASSWORD_MANY, sizeof(p->known));

    p->bare[0] = 0;

    for (i = 0; i < p->text.n; i++) {

        if (ngx_min(p->bare[i], p->known[i]) >= NGX_SVC_PASSWORD_PIECES) {
            continue;
        }

        c = p->text.c[i];

        if (c < 0x80 && (c < 'a' || c > 'z')) {
            p->bare[i + 1] = ngx_min(p->bare[i + 1], p->bare[i] + 1);
            p->known[i + 1] = ngx_min(p->known[i + 1], p->known[i] + 1);
        }

        for (s = ngx_svc_password_words; *s; s++) {
            period = ngx_svc_password_known_word(&p->text, i, *s);

            if (period) {
                ngx_svc_password_known(p, i, period, period);
            }
        }

        for (s = ngx_svc_password_rows; *s; s++) {
            ngx_svc_password_row(p, i, *s);
        }

        for (period = 1; period <= 3; period++) {
            ngx_svc_password_repeat(p, i, period);
        }
    }
}


/* Notes known pieces at i, of each length from least to len. */

static void
ngx_svc_password_known(ngx_svc_password_pieces_t *p, ngx_uint_t i,
    ngx_uint_t least, ngx_uint_t len)
{
    u_char  pieces;

    pieces = ngx_min(p->bare[i], p->known[i]) + 1;

    for ( /* void */ ; least <= len; least++) {
        p->known[i + least] = ngx_min(p->known[i + least], pieces);
    }
}


/* Returns the length of the word when it is at i, or 0. */

static ngx_uint_t
ngx_svc_password_known_word(const ngx_svc_password_chars_t *text, ngx_uint_t i,
    const wchar_t *word)
{
    ngx_uint_t  n;

    for (n = 0; word[n]; n++) {
        if (i + n == text->n
            || !ngx_svc_password_looks_like(text->c[i + n], word[n]))
        {
            return 0;
        }
    }

    return n;
}


static ngx_uint_t
ngx_svc_password_looks_like(wint_t c, wint_t letter)
{
    const char  *signs;

    if (c == letter) {
        return 1;
    }

    if (c >= 0x80 || (c >= 'a' && c <= 'z')) {
        return 0;
    }

    switch (letter) {
    case 'a':
        signs = "4@";
        break;
    case 'b':
        signs = "8";
        break;
    case 'e':
        signs = "3";
        break;
    case 'g':
        signs = "69";
        break;
    case 'i': case 'l':
        signs = "1!|";
        break;
    case 'o':
        signs = "0";
        break;
    case 's':
        signs = "5$";
        break;
    case 't':
        signs = "7+";
        break;
    case 'z':
        signs = "2";
        break;
    default:
        return 0;
    }

    return ngx_strchr(signs, (int) c) != NULL;
}


static void
ngx_svc_password_row(ngx_svc_password_pieces_t *p, ngx_uint_t i,
    const wchar_t *row)
{
    ngx_uint_t     n, key;
    const wint_t  *c;

    c = &p->text.c[i];

    for (key = 0; row[key]; key++) {

        for (n = 0; i + n < p->text.n && row[key + n]
                    && (wint_t) row[key + n] == c[n]; n++)
        {
            /* void */
        }

        ngx_svc_password_known(p, i, NGX_SVC_PASSWORD_ROW, n);

        for (n = 0; i + n < p->text.n && n <= key
                    && (wint_t) row[key - n] == c[n]; n++)
        {
            /* void */
        }

        ngx_svc_password_known(p, i, NGX_SVC_PASSWORD_ROW, n);
    }
}


/*
 * Notes 3 times the same character, twice the same two, or twice the same
 * three.
 */

static void
ngx_svc_password_repeat(ngx_svc_password_pieces_t *p, ngx_uint_t i,
    ngx_uint_t period)
{
    ngx_uint_t                       n;
    const ngx_svc_password_chars_t  *text;

    text = &p->text;

    for (n = period; i + n < text->n
                     && text->c[i + n] == text->c[i + n - period]; n++)
    {
        /* void */
    }

    ngx_svc_password_known(p, i, ngx_max(3, 2 * period), n);
}
