#!/usr/bin/perl

# conf/www/svc/ui/draw.js in a real browser: it draws what preact draws, and keeps the
# focus, the caret, what is typed, and no element or listener that is not needed.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Npm;
use SvcTest::Page qw(with_pages);
use SvcTest::Process qw(slurp);

my $s = SvcTest->new;
my $origin = with_pages($s);
my $npm = npm_install($s->root);

$s->start;

my $page = SvcTest::Page->new($s->root);

$page->do(go => "$origin/nothing");

# returns what a script finds that has draw.js

sub drawn {
    my ($script) = @_;

    return $page->do(run => <<"EOT");
(async () => {
  const { effect, h, mount, state } = await import("/svc/ui/draw.js");
  const place = document.createElement("div");

  document.body.replaceChildren(place);

  $script
})()
EOT
}


# --- the same as preact -----------------------------------------------------------------

my $seed = time;
my $count = 10_000;

my $preact = JSON::PP->new->allow_nonref->encode(
    slurp("$npm/node_modules/preact/dist/preact.mjs"));

my $wrong = $page->do(run => "const SEED = $seed, COUNT = $count, PREACT = $preact; "
                             . slurp("$npm/transitions.js"));

is_deeply($wrong, [], "$count random transitions, of seed $seed") or diag(explain($wrong));


# --- what people see --------------------------------------------------------------------

is_deeply(drawn(<<'EOT'), [ 'b', 2, 4, 'typed' ], 'the focus, the caret and what is typed move along');
  let set;
  const Rows = () => {
    const [keys, setKeys] = state(["a", "b", "c"]);

    set = setKeys;

    return h("ul", {}, keys.map(key => h("li", { key }, h("input", { id: key }))));
  };

  mount(place, h(Rows));

  const b = document.querySelector("#b");

  b.value = "typed";
  b.focus();
  b.setSelectionRange(2, 4);
  set(["c", "x", "a", "b"]);
  await null;

  return [document.activeElement.id, b.selectionStart, b.selectionEnd,
          document.querySelector("#b").value];
EOT

is_deeply(drawn(<<'EOT'), [ 'ABC', 3, 'AB' ], 'a value that is drawn again moves no caret');
  let set;
  const Field = () => {
    const [value, setValue] = state("AB");

    set = setValue;

    return h("input", { value, oninput: e => setValue(e.target.value.toUpperCase()) });
  };

  mount(place, h(Field));

  const input = place.querySelector("input");

  input.value = "ABc";
  input.setSelectionRange(3, 3);
  input.dispatchEvent(new Event("input"));
  await null;

  const seen = [input.value, input.selectionStart];

  set("AB");
  await null;

  return [...seen, input.value];
EOT

is_deeply(drawn(<<'EOT'), [ '<img>', 0, '' ], 'a text is text, and an attribute is no handler');
  mount(place, h("p", { title: "\"><img>" }, "<img>"));

  return [place.textContent, place.querySelectorAll("img").length,
          h("p", {}).kids.join()];
EOT

is_deeply(drawn(<<'EOT'), [ 'begun 1', 'ended 1', 'begun 2', 'ended 2' ], 'effects end');
  const seen = [];
  let set;
  const Inner = ({ n }) => {
    effect(() => {
      seen.push(`begun ${n}`);

      return () => seen.push(`ended ${n}`);
    }, [n]);

    return h("p", {}, n);
  };
  const Outer = () => {
    const [n, setN] = state(1);

    set = setN;

    return h("div", {}, n > 0 && h(Inner, { n }));
  };

  mount(place, h(Outer));
  set(1);
  await null;
  set(2);
  await null;
  set(0);
  await null;

  return seen;
EOT

is_deeply(drawn(<<'EOT'), [ 'broken: no', 'broken: again', 'fine' ], 'what fails says so, and nothing else');
  let set, other;
  const Inner = ({ bad }) => {
    const [more, setMore] = state(false);

    other = setMore;

    if (bad || more) {
      throw new Error(bad ? "no" : "again");
    }

    return h("p", {}, "good");
  };
  const Guard = ({ bad }) => h("div", {}, h(Inner, { bad }));

  Guard.failed = error => h("p", {}, `broken: ${error.message}`);

  const Root = () => {
    const [bad, setBad] = state(true);

    set = setBad;

    return h("div", {}, h("p", { class: "a" }, h(Guard, { key: String(bad), bad })),
                        h("p", { class: "b" }, "fine"));
  };

  mount(place, h(Root));

  const seen = [place.querySelector(".a").textContent];

  set(false);
  await null;
  other(true);
  await null;

  return [...seen, place.querySelector(".a").textContent,
          place.querySelector(".b").textContent];
EOT

# a frame of two counters, which draws its kids as "draw" says

sub framed {
    my ($draw, $script) = @_;

    return drawn(<<"EOT");
  let turn;
  const Counter = ({ name }) => {
    const [n, setN] = state(0);

    return h("button", { onclick: () => setN(n + 1) }, name, n);
  };
  const Frame = ({ kids }) => {
    const [on, setOn] = state(false);

    turn = setOn;

    return ($draw)(on, kids);
  };
  const seen = [];
  const turned = async on => {
    turn(on);
    await null;
    seen.push(place.textContent);
  };
  const hit = async (n = 0) => {
    place.querySelectorAll("button")[n].click();
    await null;
    seen.push(place.textContent);
  };

  mount(place, h(Frame, {}, h("p", {}, h(Counter, { name: "a" })), h(Counter, { name: "b" })));
  $script

  return seen;
EOT
}

is_deeply(framed('(on, kids) => h(on ? "section" : "div", {}, kids)',
                 'await hit(); await turned(true); await hit(); await hit(1);
                  await turned(false); await hit();'),
          [qw(a1b0 a0b0 a1b0 a1b1 a0b0 a1b0)], 'kids that get another parent live on');
is_deeply(framed('(on, kids) => on ? h("div", {}, kids) : kids[0]',
                 'await hit(); await turned(true); await hit(); await hit(1);
                  await turned(false); await hit();'),
          [qw(a1 a0b0 a1b0 a1b1 a0 a1)], '... and one that is all there is');
is_deeply(framed('(on, kids) => h("div", {}, on || h("p", {}, "about "), kids, h("p", {}, " end"))',
                 'await turned(true); await hit(1); await turned(false); await hit(1);'),
          ['a0b0 end', 'a0b1 end', 'about a0b1 end', 'about a0b2 end'],
          '... and those that get another place');
is_deeply(framed('(on, kids) => h("div", { class: on }, kids)',
                 'await hit(); await hit(1); await turned(true); await hit();'),
          [qw(a1b0 a1b1 a1b1 a2b1)], '... and what stays keeps what it has');

is_deeply(drawn(<<'EOT'), [ 'fine', 0 ], 'an object that h() has not made is nothing');
  const bad = JSON.parse('{ "type": "img", "props": { "src": "x" }, "kids": [], "toString": 1 }');

  mount(place, h("p", {}, bad, [bad, "fine"], h(() => bad)));

  return [place.textContent, place.querySelectorAll("img").length];
EOT

is_deeply(drawn(<<'EOT'), [ 1, 2 ], 'the last listener alone is called, by one of the browser');
  let set, heard = 0, added = 0;
  const add = EventTarget.prototype.addEventListener;

  EventTarget.prototype.addEventListener = function (...args) {
    added++;
    add.apply(this, args);
  };

  const Button = () => {
    const [n, setN] = state(1);

    set = setN;

    return h("button", { onclick: () => { heard += n; } });
  };

  mount(place, h(Button));
  set(2);
  await null;
  place.querySelector("button").click();
  EventTarget.prototype.addEventListener = add;

  return [added, heard];
EOT

is_deeply(drawn(<<'EOT'), [ 'http://www.w3.org/2000/svg', 'http://www.w3.org/1999/xhtml', 'b' ], 'pictures, and a choice among options that come with it');
  mount(place, h("div", {}, h("svg", {}, h("path", { d: "M0 0" })), h("p", {}),
    h("select", { value: "b" }, ["a", "b"].map(value => h("option", { value }, value)))));

  return [place.querySelector("path").namespaceURI, place.querySelector("p").namespaceURI,
          place.querySelector("select").value];
EOT


# --- names ------------------------------------------------------------------------------

is_deeply(drawn(<<'EOT'), [ [], [] ], 'signs that nobody sees are shown, but not those of an emoji');
  const { shown } = await import("/svc/ui/words.js");
  const hidden = [0, 9, 0x7f, 0x9f, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x180b, 0x180e, 0x200b,
                  0x200d, 0x200f, 0x2028, 0x202e, 0x2060, 0x2069, 0x2800, 0x3164, 0xfe00, 0xfe0f,
                  0xfeff, 0xffa0, 0xe0000, 0xe0001, 0xe007f, 0xe01ef];
  const whole = ["\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "\u2764\ufe0f", "\u{1f44d}\u{1f3fd}",
                 "\u{1f9d1}\u{1f3fd}\u200d\u{1f680}", "Zo\u00eb - na\u00efve", "\u65e5\u672c"];

  return [hidden.filter(n => !/^a\u27e8U\+[0-9A-F]{4,5}\u27e9b$/.test(
            shown(`a${String.fromCodePoint(n)}b`))),
          whole.filter(text => shown(text) !== text)];
EOT

done_testing;
