package SvcTest::Factor;

# Second factors: codes of oathtool, and what a browser does with them.

use strict;
use warnings;

use Exporter qw(import);

use SvcTest::Skip;

needs(program => 'oathtool');

our @EXPORT_OK = qw(totp enrolled policy burst);


# Returns the code of a secret in base 32, $steps steps of 30 seconds from now.

sub totp {
    my ($secret, $steps) = @_;

    my $at = time + 30 * ($steps // 0);

    open my $fh, '-|', 'oathtool', '--totp', '--base32', "--now=\@$at", $secret
        or die "oathtool: $!\n";
    chomp(my $code = <$fh>);
    close $fh or die "oathtool: $?\n";

    return $code;
}


sub step { return int(time / 30) }


# Adds a factor to the user of a browser's session.  It confirms with the code
# of the step before this one, so that two more codes are valid.  Returns its
# id, secret and recovery codes.

sub enrolled {
    my ($b) = @_;

    my $new = $b->post('/v1/mfa/totp', {});
    $new->status == 201 or die $new->body;
    $new = $new->json;

    $b->{s}->secret($new->{secret});

    my ($step, $r);

    # tries again when the code expired on its way

    do {
        $step = step();
        $r = $b->post("/v1/mfa/totp/$new->{id}/confirm",
                      { code => totp($new->{secret}, -1) });
    } while ($r->status != 200 && $step != step());

    $r->status == 200 or die $r->body;

    return { %$new, codes => $r->json->{recoveryCodes} };
}


# Sets the default action of the tenant's access policy.

sub policy {
    my ($tenant, $action) = @_;

    my $r = $tenant->admin(PUT => '/access-policy',
                           { rules => [], defaultAction => $action }, [],
                           $tenant->token_for('tenant:manage'));

    return $r->status == 200 || die $r->body;
}


# Sends the same request of a browser $n times at once.  Returns the answers.

sub burst {
    my ($b, $n, $path, $body, %opt) = @_;

    my @c = map {
        $b->{s}->begin(POST => $path, [ Cookie => $b->cookie,
                                        'X-CSRF-Token' => $b->{csrf} ],
                       ref $body eq 'CODE' ? $body->($_) : $body, %opt)
    } 1 .. $n;

    return map { my $r = $_->read or die 'no answer: ' . $_->error . "\n";
                 $_->close;
                 $r } @c;
}


1;
