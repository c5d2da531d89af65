#!/usr/bin/perl

# Reads the files of conf/www: they make no HTML and no code of text, ask servers in a few
# files alone, keep nothing about people in the browser, and say the same in all languages.
# t/npm/page_lint.mjs has the rules, and what is allowed where.

use strict;
use utf8;
use warnings;

use Compress::Zlib ();
use Encode ();
use File::Find ();
use JSON::PP ();
use Test::More;

use SvcTest::Npm;
use SvcTest::Process qw(slurp);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my %pages;

File::Find::find({ no_chdir => 1, wanted => sub {
    utf8::decode($pages{ s{^conf/www/}{}r } = slurp($_)) if /\.(?:html|css|js)\z/;
} }, 'conf/www');

# Each rule has what it must find, and what it must let pass: the text of a file that is
# VIEW unless another one is named.

my $VIEW = 'svc/console/view.js';
my (%sites, %wanted);

sub site {
    my ($name, $fault, $files) = @_;

    $sites{$name} = ref $files ? $files : { $VIEW => $files };
    $wanted{$name} = $fault;
}

sub finds {
    my ($fault, @files) = @_;

    for my $one (@files) {
        site(ref $one ? join ' ', map { "$_: $one->{$_}" } sort keys %$one : $one,
             $fault, $one);
    }
}

sub passes { finds(undef, @_) }
sub page { return { 'x.html' => "<!doctype html>$_[0]" } }
sub style { return { 'svc/x.css' => $_[0] } }
sub at { return { $_[0] => $_[1] } }

finds(qr/makes HTML of text$/, 'a.innerHTML = b', 'a["outerHTML"] = b', 'a.setHTMLUnsafe(b)',
      'a.insertAdjacentHTML("x", b)', 'document.write(a)', 'document.writeln(a)',
      'new DOMParser().parseFromString(a, "b")', 'Object.assign(a, { innerHTML: b })',
      'const { innerHTML: b } = a', 'h("p", { srcdoc: a })');
passes('a.textContent = b // innerHTML', 'file.write(a)', 'a.replaceChildren(b)');

finds(qr/makes code of text$|an address that is code$/, 'eval(a)', 'new Function(a)',
      'window.eval?.(a); const b = eval', 'setTimeout("a()", 1)', 'setInterval(`${a}()`, 1)',
      'go("javascript:a")');
passes('typeof a === "function"', 'setTimeout(a, 1)', 'const a = { eval: 1 }');

finds(qr/an attribute /, 'a.setAttribute("style", b)', 'a.setAttribute("onclick", b)',
      'a.setAttributeNS(null, "STYLE", b)', 'a.toggleAttribute("onload")',
      'a.setAttribute(b, c)', 'h("p", { style: a })', 'h("p", { onclick: "a()" })',
      page('<p style="color: red">'), page("<p onclick=a()>"), page("<p ONCLICK='a()'>"));
finds(qr/a style of text$/, 'a.style.cssText = b');
passes('a.setAttribute("lang", b)', 'h("p", { onclick: () => a() })', 'a.style.color = b',
       at('svc/ui/draw.js', 'a.setAttribute(b, c)'), page('<p class="on" id=style>'),
       at('svc/x.en.js', 'export default {}'));

finds(qr/an element "/, 'h("script", {})', 'h("IFRAME", {})',
      'document.createElement("style")', 'document.createElementNS(a, "script")',
      page('<style>p { }</style>'), page('<iframe src="/x"></iframe>'), page('<base href="/">'),
      page('<meta http-equiv="refresh" content="0">'));
passes('h("p", {})', 'document.createElement("p")', page('<meta charset="utf-8">'));

finds(qr/a script within the page$/, page('<script>a()</script>'),
      page('<script type="importmap">{}</script>'),
      { 'x.html' => '<script type="module" src="/svc/x.js">a()</script>', 'svc/x.js' => '' });
finds(qr/an address that is none of these files: /, page('<a href="https://x.test/">'),
      page('<link rel="stylesheet" href="//x.test/a.css">'), page('<img src="/\\x.test">'),
      page('<a href="javascript:a()">'), page('<form action="x">'));
passes(page('<a href="/x"><link rel="icon" href="data:,"><img src="/x">'));

finds(qr/keeps something in the browser$|is not listed$|sets a cookie$/,
      'localStorage.setItem("mail", a)', 'localStorage.getItem(a)', 'localStorage.mail = a',
      'localStorage[a]', 'const a = localStorage',
      'window.localStorage.setItem("svc-theme", a)', 'sessionStorage.getItem("svc-theme")',
      'indexedDB.open("x")', 'document.cookie = a', 'document.cookie += a');
passes('localStorage.setItem("svc-theme", a)', 'localStorage.getItem("svc-theme")',
       'const a = document.cookie');

finds(qr/asks a server$/, 'fetch("/v1/x")', 'const a = fetch', 'window.fetch(a)', 'new XMLHttpRequest()',
      'new EventSource("/x")', 'new WebSocket(a)', 'navigator.sendBeacon(a, b)',
      'navigator.serviceWorker.register(a)', 'new Worker(a)');
passes('prefetch("/x")', at('svc/ui/call.js', 'fetch("/x")'));

finds(qr/a link to what somebody may have written/, 'h("a", { href: url })',
      'h("a", { href })', 'h("a", { href: `${a}/b` })', 'h("a", { href: "//x.test" })',
      'h("a", { href: "/\\\\x.test" })', 'h("a", { href: a ? "/b" : c })', 'a.href = b',
      'a.setAttribute("href", b)', 'location.href = a',
      'const f = a => a; h("a", { href: f(b) })', 'const [a] = state(b); h("a", { href: a })');
passes('h("a", { href: "/account" })', 'h("a", { href: `/x/${a}` })',
       'h("a", { href: a ? "/b" : "#c" })', 'const f = a => `/x?${a}`; h("a", { href: f(b) })',
       'const a = b.href', 'h("link", { rel: "stylesheet", href: a })',
       'const [a] = state(() => URL.createObjectURL(b)); h("a", { href: a })',
       { 'svc/a.js' => 'export const f = a => `/x?${a}`;',
         $VIEW => 'import { f as g } from "../a.js"; h("a", { href: g(b) })' },
       at('svc/ui/place.js', 'function link(url) { h("a", { href: url }) }'));

finds(qr/a module that is none of these files$/, 'import "https://x.test/a.js"',
      'import("x")', 'import(a)', 'import(`${a}.js`)', 'export * from "//x.test/a.js"');
finds(qr/there is no "/, 'import "./none.js"', 'import("./none.js")', 'import "../none.js"',
      page('<script type="module" src="/svc/none.js"></script>'));
passes('import(`./${a}.js`)', { $VIEW => 'import "../a.js"', 'svc/a.js' => '' });
finds(qr/ has no "/, map { { $VIEW => "import $_ from \"../a.js\"",
                             'svc/a.js' => 'export const b = 1; const c = 2' } }
                     'c', '{ c }', '{ b, d }', '{ c as b }');
passes({ $VIEW => 'import a, { b, c as g, d, e, f } from "../a.js"',
         'svc/a.js' => 'export default 1; export const b = 1, { c, x: [d] } = {};'
                       . ' export function e() {} const z = 1; export { z as f }' });

finds(qr/a style|"(?:\@import|url\(|expression\()" of a style$/, style('@import "x.css"'),
      style('p { background: url(//x.test/a) }'), style('p { color: expression(a) }'));
passes(style('p { background: url("data:image/png;base64,AA==") }'));

finds(qr/words? of its own: "/, 'say("It did not work")', 'say(`Delete this one, ${a}`)',
      'say(`${a} was not there`)', 'h("p", {}, "Cancel")', 'h("p", { title: "Close" })',
      'h("p", { class: a }, b ? "two words" : c)', 'a["aria-label"] = "not a word"',
      'toast({ text: "not yours" })', at('svc/ui/x.js', 'say("not yours")'),
      at('svc/account/x.js', 'say("not yours")'));
passes('h("p", { class: "list empty" })', 'h("p", { class: `list empty ${a}` })',
       'a.querySelector("main section")', 'new Failure("x", "It did not work")',
       'h("p", { class: a ? "list empty" : "list full" }, b)', 'h("p", {}, " · ")',
       'a.classList.add("one two")', 'a.media = b ? "not all" : c', at('svc/x.js', 'say("not yours")'),
       at('svc/console/x.sheet.js', 'export default { a: "two words" }'));

sub languages {
    my ($en, $fr, $de, $code) = @_;

    return { 'svc/a.en.js' => $en, 'svc/a.fr.js' => $fr, 'svc/a.de.js' => $de,
             'svc/a.js' => $code };
}

my $one = 'export default { one: "a {n} {x}", more: { b: "c" } }';
my $both = 'words.one; words.more.b';

passes(languages(($one) x 3, $both), languages(($one) x 3, 'words.one; words.more[x]'),
       languages(($one) x 3, 'words.one; Object.entries(words.more)'),
       languages('export default { one: { one: "a", other: "{n}" } }',
                 'export default { one: { one: "a", many: "b", other: "{n}" } }',
                 'export default { one: "{n}" }', $both));
finds(qr/^svc\/a\.fr\.js:1: lacks "more\.b"$/,
      languages($one, 'export default { one: "{x}" }', $one, $both));
finds(qr/^svc\/a\.de\.js:1: has "two", which English lacks$/,
      languages($one, $one, 'export default { one: "{x}", more: { b: "" }, two: "" }', $both));
finds(qr/^svc\/a\.de\.js:1: "one" takes other values than in English$/,
      languages($one, $one, 'export default { one: "{y}", more: { b: "" } }', $both));
finds(qr/^svc\/a\.en\.js:1: "more\.b" is not used$/,
      languages(($one) x 3, 'words.one; words.more'));
finds(qr/^svc\/a\.en\.js:1: "one" is not used$/, languages(($one) x 3, 'words.more.b'));
finds(qr/there is no svc\/(?:\w+\/)?x\.(?:fr|de)\.js$/,
      map { at("svc/${_}x.en.js", 'export default {}') } '', 'ui/', 'console/', 'account/');
passes({ map { ("svc/console/x.$_.js" => "import y from \"./y.$_.js\"; export default {}",
                "svc/console/y.$_.js" => 'export default {}') } qw(en fr de) });
finds(qr/a file of words loads other words alone/,
      { 'svc/console/y.js' => '',
        map { ("svc/console/x.$_.js" => 'import "./y.js"; export default {}') } qw(en fr de) });

sub preloads {
    my (@modules) = @_;

    return { 'x.html' => join('', map { qq{<link rel="modulepreload" href="/svc/$_.js">} }
                                      @modules)
                         . '<script type="module" src="/svc/a.js"></script>',
             'svc/a.js' => 'import "./ui/b.js"; import("./d.js")',
             'svc/ui/b.js' => 'export * from "../c.js"', 'svc/c.js' => '', 'svc/d.js' => '' };
}

passes(preloads('ui/b', 'c'), preloads('ui/b', 'c', 'd'));
finds(qr/lacks <link rel="modulepreload" href="\/svc\/(?:ui\/b|c)\.js">$/, preloads());
finds(qr/lacks <link rel="modulepreload" href="\/svc\/c\.js">$/, preloads('ui/b'));
finds(qr/lacks <link rel="modulepreload" href="\/svc\/e\.js">$/,
      { %{ preloads('ui/b', 'c', 'd') }, 'svc/d.js' => 'import "./e.js"', 'svc/e.js' => '' });
finds(qr/loads \/svc\/(?:a|c|f)\.js, which its script does not import$/,
      preloads('ui/b', 'c', $_)) for qw(a c f);
finds(qr/does not parse: /, 'const = 1');

# The colours of the console, in the light and in the dark: what is written or drawn on
# what, and the least contrast of it, as WCAG computes it.

my @GROUNDS = qw(bg surface raised);
my %LEAST = (
    fg => [ 7, @GROUNDS, 'fg 6% surface', 'accent 14% surface', 'bad 8% surface' ],
    muted => [ 4.5, @GROUNDS, 'accent 14% surface' ],
    (map { $_ => [ 4.5, @GROUNDS ] } qw(accent good warn bad info)),
    accentFg => [ 7, 'accent' ],
    raised => [ 7, 'bad' ],     # a button that destroys something
    (map { $_ => [ 3, @GROUNDS ] } qw(control focus)),
);

sub luminance {
    my ($r, $g, $b) = map { $_ <= 0.03928 ? $_ / 12.92 : (($_ + 0.055) / 1.055) ** 2.4 } @_;

    return 0.2126 * $r + 0.7152 * $g + 0.0722 * $b;
}

sub contrast {
    my ($low, $high) = sort { $a <=> $b } map { luminance(@$_) } @_;

    return ($high + 0.05) / ($low + 0.05);
}

for my $theme (0, 1) {
    my %color;

    while ($pages{'svc/ui/ui.css'} =~ /--(\w+): light-dark\(#(\w+), #(\w+)\);/g) {
        my ($name, $hex) = ($1, ($2, $3)[$theme]);

        $hex =~ s/(.)/$1$1/g if length $hex == 3;
        $color{$name} = [ map { hex() / 255 } unpack '(A2)*', $hex ];
    }

    my $ground = sub {
        my ($name, $share, $below) = split /[ %]+/, $_[0];

        return $color{$name} if !defined $share;

        return [ map { ($color{$name}[$_] * $share + $color{$below}[$_] * (100 - $share)) / 100 }
                     0 .. 2 ];
    };

    for my $name (sort keys %LEAST) {
        my ($least, @grounds) = @{ $LEAST{$name} };

        cmp_ok(contrast($color{$name}, $ground->($_)), '>=', $least,
               "$name on $_, " . ('light', 'dark')[$theme]) for @grounds;
    }
}

my $found = JSON::PP->new->utf8->decode(npm_run('.', 'page_lint.mjs',
    JSON::PP->new->utf8->encode({ '' => \%pages, %sites })));

is_deeply($found->{''}, [], 'the pages are as they should be')
    or diag(map { "$_\n" } @{ $found->{''} });

for my $name (sort keys %sites) {
    my @faults = @{ $found->{$name} };
    my $fault = $wanted{$name};

    if (!$fault) {
        is_deeply(\@faults, [], "passes: $name");
        next;
    }

    ok(@faults && !(grep { !/$fault/ } @faults), "found: $name")
        or diag(map { "$_\n" } @faults);
}


# --- how much it is ---------------------------------------------------------------------

# What a file loads at once, with all that this needs, and without what is there already.

sub at_once {
    my ($there, @paths) = @_;
    my %all;

    while (defined(my $path = shift @paths)) {
        next if $there->{$path} || $all{$path}++;

        for my $other ($pages{$path} =~ /^(?:import|export|\} from)[^;]*?"(\.[^"]+)";/mg) {
            my $file = "$path/../$other";

            1 while $file =~ s{[^/]+/\.\./|/\.(?=/)}{};
            push @paths, $file;
        }

        push @paths, $pages{$path} =~ m{^await styled\("/([^"]+)"\)}mg;
    }

    return \%all;
}

sub weight {
    my ($files) = @_;
    my $bytes = 0;

    $bytes += length Compress::Zlib::memGzip(Encode::encode('UTF-8', $pages{$_}))
        for keys %$files;

    return $bytes;
}

my $frame = $pages{'console.html'};
my $nav = $pages{'svc/console/nav.js'};

# these have a form from the beginning

my %more = (access => 12_800, branding => 20_500, passwords => 12_500);

for my $l (qw(en fr de)) {
    my $shell = at_once({}, 'console.html', $frame =~ m{(?:href|src)="/(svc/[^"]+)"}g,
                        map { "svc/$_.$l.js" } qw(ui/text ui/lists console/shell));

    cmp_ok(scalar keys %$shell, '<=', 20, "$l: what the console loads at once is few files");
    cmp_ok(weight($shell), '<=', 35_000, '... and small');

    while ($nav =~ /^  "?([a-z-]+)"?: \{ area: "(\w+)"(?:, list: "(\w+)")?/mg) {
        my $list = at_once($shell, map { "svc/console/$_.js" } "$2.sheet", "$2.$l",
                                                               defined $3 ? $3 : ());

        cmp_ok(weight($list), '<=', $more{$1} // 12_000, "... and what $1 add");
    }
}

done_testing();
