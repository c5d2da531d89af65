#!/usr/bin/perl

# Branding in the console: the preview is what people will see, what cannot be read is said,
# a logo is looked at before it is sent, and of two who change the same nobody is overlooked.

use strict;
use utf8;
use warnings;

use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use SvcTest;
use SvcTest::Console;
use SvcTest::Image qw(png svg truncated);
use SvcTest::Process qw(wait_for);

binmode Test::More->builder->$_, ':encoding(UTF-8)'
    for qw(output failure_output todo_output);

my $HOSTILE = '<img src=x onerror=alert(1)>' . 'W' x 92;

my $JSON = JSON::PP->new->canonical->allow_nonref;
my $s = SvcTest->new;
my $c = SvcTest::Console->new($s);
my $page = $c->{page};


sub tenant { return $c->admin(GET => '/tenant')->{tenant} }
sub brands { return $c->admin(PATCH => '/tenant', { branding => $_[0] }) }

sub is_in {
    my ($place, $script) = @_;

    return $page->do(run => "(place => $script)($place)");
}

my $PREVIEW = 'document.querySelector(".page").shadowRoot';

sub preview { return is_in($PREVIEW, $_[0]) }
sub css { return preview("getComputedStyle(place.querySelector('$_[0]')).$_[1]") }


# Returns how what a page is made of looks there.

sub looks {
    my ($place) = @_;

    return is_in($place, <<'EOT');
{
  const properties = ["color", "backgroundColor", "borderTopColor", "borderTopWidth",
    "borderTopLeftRadius", "fontFamily", "fontSize", "fontWeight", "lineHeight", "marginTop",
    "paddingTop", "paddingLeft", "display", "textAlign", "cursor", "overflowWrap"];
  const found = {};

  place.querySelector("#error").textContent = "x";

  for (const one of ["", "main", "h1", "label", "input", "[type=submit]", "[type=button]",
                     "#error"])
  {
    const style = getComputedStyle(one ? place.querySelector(one) : place.host ?? place.body);

    found[one] = properties.map(name => `${name}: ${style[name]}`);
  }

  return found;
}
EOT
}


# Chooses a file for the logo.

sub chooses {
    my ($name, $bytes, $type) = @_;

    my $base64 = encode_base64($bytes, '');

    $page->do(run => <<"EOT");
(input => {
  const files = new DataTransfer();
  const bytes = Uint8Array.from(atob("$base64"), c => c.charCodeAt(0));

  files.items.add(new File([bytes], "$name", { type: "$type" }));
  input.files = files.files;
  input.dispatchEvent(new Event("change"));
})(document.querySelector("#logo"))
EOT
}


# --- what is typed is seen before it is saved -------------------------------------------

brands({ danger => '#cc0000', note => { a => 1, b => 2 } });
$c->opens('branding', 'Branding');
ok(wait_for(sub { preview('place?.querySelector("h1")?.innerText') }), 'the page is seen');
is(preview('place.querySelector("h1").innerText'), 'Sign in – Acme', '... of this tenant');
is(css('main', 'backgroundColor'), 'rgb(255, 255, 255)', '... in its own colours');
is($page->do(attribute => '[name="branding.bg"]', 'placeholder'), '#f3f4f6',
   '... which empty fields name');
is($page->do(attribute => '.preview .page', 'inert'), '', '... and nobody can use it');
$c->sees('[data-field="branding.danger"]', qr/5\.8:1 on the card\. Easy to read/,
     'a contrast is said');
is($page->do(count => '.contrast .warn'), 0, '... and nothing stands in for another');

$page->do(type => 'Button', '#ffff00');
$page->do(type => 'Text on the button', 'white');
$page->do(type => 'Notes', '#ccc');
$c->sees('[data-field="branding.primaryFg"]', qr/1:1 on the button\. Below 4\.5:1.*uses black/s,
     'what nobody can read is said, and what is there instead');
$c->sees('[data-field="branding.muted"]', qr/1\.6:1.*the colour of text instead/s, '... as a note');
is(css('[type=submit]', 'backgroundColor'), 'rgb(255, 255, 0)', 'the preview has what is typed');
is(css('[type=submit]', 'color'), 'rgb(0, 0, 0)', '... and what stands in');
is($page->do(attribute => '#field-branding\\.primaryFg', 'aria-describedby'),
   'field-branding.primaryFg-more', '... which is said to everybody');

$page->do(type => 'Card', 'oklch(0.5 0 0)');
$page->do(type => 'Page', 'blu');
$c->sees('[data-field="branding.bg"]', qr/is no colour/, 'what is no colour is said');
is(preview('getComputedStyle(place.host).backgroundColor'), 'rgb(243, 244, 246)',
   '... and is not taken');
$page->do(type => 'Page', 'hsl(0, 0%, 20%)');
$page->do(press => 'Save');
$c->sees('.wrong', qr/"branding\.surface" must be a CSS colour/, 'a refusal is said at its field');
ok(wait_for(sub { $page->do('focus') eq 'field-branding.surface' }), '... which has the focus');
$page->do(type => 'Card', '#222');
$page->do(type => 'Rounded corners', '12');
$page->do(type => 'Name of the organisation', $HOSTILE);
is(preview('place.querySelector("h1").innerText'), "Sign in – $HOSTILE", 'a name is text');
is(preview('place.querySelectorAll("img").length'), 0, '... and nothing else');
is_deeply($page->do('axe'), [], '... for everybody');

$page->do(press => 'Save');
is($c->said, 'Saved.', 'it is saved');
is($page->do(text => '.top .tenant'), "$HOSTILE acme", 'the frame has the new name');
is_deeply($JSON->decode($page->do(run => 'import("/svc/console/server.js").then(m =>'
                                         . ' m.sent.find(one => one.method === "PATCH").body)')),
          { name => $HOSTILE, branding => {
                primary => '#ffff00', primaryFg => 'white', muted => '#ccc',
                bg => 'hsl(0, 0%, 20%)', surface => '#222', radius => '12' } },
          '... and the difference alone was sent');
ok(wait_for(sub { preview('place?.querySelector("h1")?.innerText') }), 'the page is seen again');

my $previewed = looks($PREVIEW);

$page->do(press => 'An error');
$c->sees('.preview [aria-pressed=true]', qr/An error/, 'there is an error to be seen');
is(preview('place.querySelector("#error").innerText'),
   'Address or password is wrong, or the passkey is not known.', '... that of the page');
$page->do(press => 'On a phone');
ok(wait_for(sub { $page->do(run => 'document.querySelector(".page").clientWidth') == 318 }),
   '... on a phone');
ok(preview('place.querySelector("main").scrollWidth <= 318'), '... where it fits');

$page->do(go => "$c->{origin}/login?tenant=acme#forgot");
$page->do(heading => 'Forgot your password?');
is_deeply($previewed, looks('document'), 'the page of sign-in looks as the preview did');
$page->do('faults');


# --- the logo ---------------------------------------------------------------------------

$c->opens('branding', 'Branding');
$page->do(type => 'Notes', '#bbbbbb');
$page->do('calls');
chooses('logo.svg', svg(), 'image/svg+xml');
$c->sees('[role=alert]', qr/SVG, which may hold scripts/, 'SVG is refused');
chooses('logo.png', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/png');
$c->sees('[role=alert]', qr/SVG/, '... whatever it is called');
chooses('logo.gif', 'GIF89a', 'image/gif');
$c->sees('[role=alert]', qr/no PNG, JPEG or WebP/, '... as are others');
chooses('logo.png', png(2001, 1), 'image/png');
$c->sees('[role=alert]', qr/2,001 × 1 pixels/, '... and what is too wide');
chooses('logo.png', truncated(png(300, 300, noise => 1), 9000), 'image/png');
$c->sees('[role=alert]', qr/damaged/, '... or cannot be shown');
chooses('logo.png', png(8, 8) . "\0" x (512 * 1024), 'image/png');
$c->sees('[role=alert]', qr/It has 513 KB/, '... or is too large');
is_deeply($page->do('axe'), [], '... for everybody');
is_deeply([ grep { !/^GET/ } @{ $page->do('calls') } ], [], '... before anything is sent');

chooses("$HOSTILE.png", png(8, 8), 'image/png');
$c->sees('main', qr/<img src=x.*: 8 × 8 pixels, 1 KB\. It is not in use yet/, 'what was chosen');
like(preview('place.querySelector("#brand img").src'), qr/^data:image\/png/, '... is seen');
is($page->do(count => '.top .logo'), 0, '... here alone');
$page->do(follow => 'Risk');
$page->do(heading => 'Discard what has not been saved?');
$page->do(press => 'Cancel');
$page->do(press => 'Use this logo');
is($c->said(qr/logo/), 'The logo is in use.', 'it is sent');
ok(wait_for(sub { $page->do('focus') eq 'logo' }), '... and the focus is where one goes on');
like($page->do(run => 'Promise.all(["server", "drawer"].map(n => import(`/svc/console/${n}.js`)))'
                      . '.then(([a, b]) => b.curlOf(a.sent.find(one => one.method === "PUT")))'),
     qr/--data-binary '\@<img .*\.png'\z/, '... as a script would');
is($page->do(count => '.top .logo'), 1, 'the frame has it');
ok(is_in('document', 'place.querySelector(".top .logo").decode().then(() => true)'),
   '... to be seen');

my $url = tenant()->{branding}{logoUrl} =~ s/^$c->{origin}//r;

is(preview('place.querySelector("#brand img").getAttribute("src")'), $url, 'and so has the page');
is($page->do(run => 'document.querySelector("[name=\"branding.muted\"]").value'), '#bbbbbb',
   'what was typed is there');
$page->do(press => 'Save');
ok(wait_for(sub { tenant()->{branding}{muted} eq '#bbbbbb' }),
   '... and is saved without a question');

$c->opens('risk', 'Risk');
ok(wait_for(sub { $page->do(count => '.top .logo') == 1 }), 'other views have the logo, too');
$c->opens('branding', 'Branding');
brands({ fg => '#fff' });
$page->do(press => 'Remove the logo');
$page->do(heading => 'Remove the logo?');
is_deeply($page->do('axe'), [], 'the question is for everybody');
$page->do(click => 'dialog .danger');
is($c->said(qr/logo/), 'The logo is removed.', 'it is removed, whatever else has changed');
is($page->do(count => 'img'), 0, '... everywhere');
is(tenant()->{branding}{logoUrl}, undef, '... as the server has it');

chooses('logo.png', png(8, 8), 'image/png');
$c->sees('main', qr/not in use yet/, 'another one');
is($c->{acme}->admin(PUT => '/tenant/logo', png(9, 9), [], $c->{all})->status, 200,
   '... while somebody else has one');
$page->do(press => 'Use this logo');
$page->do(heading => 'Somebody else has changed the logo');
$page->do(press => 'Go on');
is($c->said(qr/in use/), 'The logo is in use.', '... takes its place where that is wanted');


# --- two at a time ----------------------------------------------------------------------

$page->do(type => 'Lines', 'gray');
is(preview('place.querySelectorAll("[type=button]").length'), 1, 'the page offers a passkey');
$page->do(click => '[name="branding.allowSelfSignup"]');
is(preview('[...place.querySelectorAll("[type=button]")].at(-1).innerText'), 'Create an account',
   '... and an account, where that is allowed');
$page->do(run => 'document.querySelector("main details").open = true');
$page->do(type => 'As a JSON object', '{"note":{"a":1},"primary":"red"}');
$page->do(press => 'Save');
$c->sees('.wrong', qr/without the names that have a field/, 'a value has one place');
$page->do(type => 'As a JSON object', '{"note":{"a":1}}');
$page->do(press => 'Save');
$page->do(heading => 'Somebody else has changed this');
$c->sees('dialog .beside',
     qr/Changed: Text and links.*#fff.*Changed: Lines.*Removed: .* › note › b/s,
     'theirs is beside, and what mine would make of it');
is_deeply($page->do('axe'), [], '... for everybody');
$page->do(press => 'Send mine again');
is($c->said(qr/Saved/), 'Saved.', 'mine is sent again');
is_deeply([ @{ tenant()->{branding} }{qw(fg border note allowSelfSignup)} ],
          [ '#fff', 'gray', { a => 1 }, JSON::PP::true ],
          '... and theirs is kept');


# --- a phone, in the dark ---------------------------------------------------------------

$page->do(resize => 360, 800);
$page->do(run => 'document.documentElement.dataset.theme = "dark"');
is_deeply($page->do('axe'), [], 'for everybody on a phone');
$c->fits;
is_deeply($page->do('faults'), [], 'with no error');

done_testing;
