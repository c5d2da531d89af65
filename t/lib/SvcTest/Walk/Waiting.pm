package SvcTest::Walk::Waiting;

# Tests that a session that waits for a factor, for the first one, or for a new
# password, can do only what it waits for.

use strict;
use warnings;

use Test::More;

use SvcTest::Admin;
use SvcTest::Browser qw(with_password);
use SvcTest::Factor qw(policy);
use SvcTest::Routes qw(path_of);
use SvcTest::Walk;


sub walk {
    my ($class, $w) = @_;

    my $s = $w->{s};
    my $tenant = $s->tenant('waiting');
    my ($user) = map {
        with_password($s, $tenant, userName => "$_\@waiting.test", role => 'owner')
    } qw(ada new);

    $s->sql('INSERT INTO svc.factor (tenant_id, user_id, id, type, name,'
            . " confirmed_at) VALUES ('$tenant->{id}', '$user->{id}',"
            . " gen_random_uuid(), 'passkey', 'x', now())");

    all_refused($w, ada => 'step_up_required',
                sub { $_[0] =~ m{ /v1/mfa/(?:challenge|step-up)$} });

    policy($tenant, 'mfa');
    all_refused($w, new => 'mfa_enrollment_required', sub {
        $_[0] =~ m{\ /v1/mfa/(?:totp|email)(?:/\*/confirm)?$|\ /v1/mfa/passkeys
                   |^GET\ /v1/mfa/factors$|\ /v1/mfa/(?:challenge|step-up)$}x
    });
    policy($tenant, 'allow');

    $s->sql('UPDATE svc.governance SET max_age_days = 1'
            . " WHERE tenant_id = '$tenant->{id}'");
    $s->sql("UPDATE svc.password SET set_at = now() - interval '2 days'"
            . " WHERE tenant_id = '$tenant->{id}'");
    all_refused($w, new => 'password_expired',
                sub { $_[0] eq 'POST /v1/auth/password' });
    $w->changed;
}


# may: returns whether a route, by its name, is what the session waits for.

sub all_refused {
    my ($w, $name, $code, $may) = @_;

    my $b = SvcTest::Browser->new($w->{s}, tenant => 'waiting');
    my $n = 0;

    admin_error($b->login("$name\@waiting.test"), 403, $code,
                "$name signs in: $code");
    $w->{s}->sweep or die "sign-ins are not counted\n";
    $w->changed;

    my @headers = (Cookie => $b->cookie, 'X-CSRF-Token' => $b->{csrf});

    $w->told("$code: every other route is refused", map {
        my $route = $_;
        my $path = path_of($route, ($SvcTest::Walk::NONE) x 2);
        my $wrong = $w->faults($route, $w->ask($route->{method}, $path, [ @headers ],
                                               $w->body($route)), 403, $code);
        $n++;
        $wrong ? "$route->{name}: $wrong" : ();
    } grep { $_->{surface} eq 'admin' && !$_->{public} && !$may->($_->{name}) }
      $w->routes);

    cmp_ok($n, '>', 100, "$code: of $n routes");
    is($w->unharmed($code), '', "$code: nothing is stored");
}


1;
