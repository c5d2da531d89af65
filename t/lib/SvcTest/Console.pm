package SvcTest::Console;

# The console in a real browser, with an owner who is signed in.
#
#     my $s = SvcTest->new;
#     my $c = SvcTest::Console->new($s);
#
#     $c->opens('groups', 'Groups');
#     $c->{page}->do(press => 'New group');

use strict;
use warnings;

use Test::More;

use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Governance;
use SvcTest::Page qw(with_pages);
use SvcTest::Process qw(wait_for);

my $TITLE = 'document.querySelector("main h1")?.innerText ?? ""';

# the name of what has the focus

my $FOCUSED = <<'EOT';
(({ ariaLabel, labels, innerText }) =>
  (ariaLabel || labels?.[0]?.innerText || innerText || "").trim())(document.activeElement)
EOT


# the last of what goes out at the sides, which is the innermost

my $OUT = <<'EOT';
[...document.querySelectorAll("main *")]
  .filter(it => it.getBoundingClientRect().right > document.documentElement.clientWidth)
  .at(-1)?.outerHTML.slice(0, 300)
EOT


# Starts the server, with the tenants acme and globex, ada@acme.test, who is an owner,
# and a browser where she is signed in.  Options: svc, settings of the server; open, of
# the browser; before, which is called with the server before it starts.

sub new {
    my ($class, $s, %opt) = @_;

    my $svc = $s->{nginx}{svc_default};

    %$svc = (%$svc, svc_sign_in => 'on', %{ $opt{svc} // {} });
    $svc->{svc_set} = [ 'RATE_LIMIT_LOGIN_IP_MAX 1000', @{ $svc->{svc_set} // [] } ];

    my $origin = with_pages($s);

    $opt{before}->($s) if $opt{before};
    $s->start;

    my ($acme, $globex) = map { $s->tenant($_) } qw(acme globex);
    my $self = bless {
        s => $s, origin => $origin, acme => $acme, globex => $globex,
        all => $acme->token_for($ALL), seen => {},
    }, $class;

    $s->secret($PASSWORD);
    $self->{ada} = $self->user('ada', role => 'owner', displayName => 'Ada Lovelace');
    $self->{page} = SvcTest::Page->new($s->root);
    $self->{page}->do(open => { viewport => { width => 1280, height => 900 },
                                %{ $opt{open} // {} } });
    $self->sign_in;

    return $self;
}


sub user {
    my ($self, $name, %user) = @_;

    my $user = with_password($self->{s}, $self->{acme}, userName => "$name\@acme.test",
                             displayName => ucfirst $name, %user);

    $self->{s}->sql("UPDATE svc.user_account SET source = 'local' WHERE id = '$user->{id}'");

    return $user;
}


# A request of the admin API, with a token that may do anything.

sub admin {
    my ($self, $method, $path, $body) = @_;

    my $r = $self->{acme}->admin($method, $path, $body, undef, $self->{all});

    die "$method $path: $r->{status} $r->{body}\n" if $r->{status} >= 300;

    return $r->{status} == 204 ? undef : $r->json;
}


# Signs in at the page of sign-in, which leads to the view.

sub sign_in {
    my ($self, $name, $view) = @_;

    my $page = $self->{page};

    $page->do(go => "$self->{origin}/login?tenant=acme&return_to=/console");
    $page->do(type => 'E-mail address', ($name // 'ada') . '@acme.test');
    $page->do(type => 'Password', $PASSWORD);
    $page->do(press => 'Sign in');
    $page->do(arrives => "$self->{origin}/console**");
}


sub opens {
    my ($self, $path, $heading, $name) = @_;

    $self->{page}->do(go => "$self->{origin}/console/$path");
    $self->shows($heading, $name // "/console/$path");
}


# Tests that the view has this heading, and what it has loaded; that it is for
# everybody, the first time; and that the browser has nothing to say.

sub shows {
    my ($self, $heading, $name) = @_;

    my $page = $self->{page};

    ok(wait_for(sub { index($page->do(run => $TITLE), $heading) >= 0 }), $name // $heading)
        or diag($page->do(text => 'body'));
    ok(wait_for(sub { $page->do(count => '[aria-busy=true], main .loading') == 0 }),
       '... whole');
    is_deeply($page->do('axe'), [], '... for everybody') if !$self->{seen}{$heading}++;
    is_deeply($page->do('faults'), [], '... with no error');
}


# Goes where the navigation leads, which loads no page; tests the heading, if one is given.

sub to {
    my ($self, $view, $heading) = @_;

    $self->{page}->do(click => qq{#nav a[href="/console/$view"]});
    $self->shows($heading) if defined $heading;
}


# Follows a link, which loads no page, and tests what is there then.

sub leads {
    my ($self, $link, $heading) = @_;

    $heading //= $link;
    $self->{page}->do(follow => $link);
    $self->shows($heading, $link eq $heading ? $link : "$link: $heading");
}


# Tests that the one thing of a selector comes to have a text, or one like it.

sub has {
    my ($self, $selector, $text, $name) = @_;

    my $page = $self->{page};

    ok(wait_for(sub {
        my $there = $page->do(count => $selector) == 1
                    ? eval { $page->do(text => $selector) } // '' : '';

        return ref $text ? $there =~ $text : index($there, $text) >= 0;
    }), $name) or diag($page->do(text => 'body'));
}


# The same of all things of a selector together, as they are seen by whoever looks.

sub sees {
    my ($self, $selector, $pattern, $name) = @_;

    my $text = '';

    ok(wait_for(sub {
        $text = join "\n", @{ $self->{page}->do(run =>
            "[...document.querySelectorAll('$selector')].map(e => e.innerText)") };
        $text =~ $pattern
    }), $name) or diag($text);
}


# The same of all that the view shows.

sub says {
    my ($self, $text, $name) = @_;

    $self->sees('main', $text, $name // "says $text");
}


# Tests that a list shows what is searched for, and not what is like the other text.

sub finds {
    my ($self, $view, $heading, $q, $yes, $no) = @_;

    $self->opens("$view?q=$q", $heading, "a search: $view?q=$q");
    $self->sees('main tbody', $yes, '... finds it');
    unlike($self->{page}->do(text => 'main tbody'), $no, '... and nothing else');
}


# Tests what is said at the edge.

sub saying {
    my ($self, $text, $name) = @_;

    like($self->said($text) // '', $text, $name);
}


# Goes to what has a name, by the key that people without a mouse have.

sub tabs_to {
    my ($self, $name) = @_;

    my $page = $self->{page};

    for (1 .. 80) {
        $page->do(key => 'Tab');

        return pass("the focus comes to $name")
            if $page->do(run => $FOCUSED) eq $name;
    }

    fail("the focus comes to $name");
}


# Waits for what is said at the edge, or for what is like a text there, and returns it.

sub said {
    my ($self, $like) = @_;

    my $page = $self->{page};
    my $said;

    wait_for(sub {
        $said = $page->do(count => '.toast') > 0 ? $page->do(text => '.toast:last-child p') : undef;

        return defined $said && (!defined $like || $said =~ $like);
    });

    return $said;
}


# Tests that nothing goes out at the sides.

sub fits {
    my ($self, $name) = @_;

    is($self->{page}->do(run => 'document.documentElement.scrollWidth'
                                . ' - document.documentElement.clientWidth'),
       0, $name // 'nothing goes out at the sides')
        or diag($self->{page}->do(run => $OUT));
}


1;
