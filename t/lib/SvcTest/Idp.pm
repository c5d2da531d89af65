package SvcTest::Idp;

# Identity providers that people of a tenant come from: oidc-provider, behind TLS.
#
#     my $receiver = SvcTest::Receiver->new($s, ...);     # its certificates
#     my $idp = SvcTest::Idp->new($s, $receiver);         # before $s->start
#     $idp->connect($acme, 'oidc-one');
#     my $r = $idp->journey($browser, 'oidc-one', { sub => 'ada', email => ... });

use strict;
use warnings;

use IPC::Open2;
use JSON::PP;

use SvcTest::Npm;
use SvcTest::Process qw(wait_for);


# The path that a provider leads browsers back to.

sub callback {
    my ($key, $slug) = @_;

    return '/v1/tenants/' . ($slug // 'acme') . "/federation/$key/callback";
}


# Options: n, how many; base, where browsers are; slugs, of tenants; keys, of connections; svc,
# directives beside those that federation needs; lies, 1 for providers that say what they are
# told to; named, 1 for those that are known by name; logout, a path that the providers tell
# of who has signed out there.

sub new {
    my ($class, $s, $receiver, %opt) = @_;
    my $npm = npm_install($s->root);
    my $nginx = $s->nginx;

    $nginx->{svc} = { svc_federation => 'on', svc_sign_in => 'on',
                      svc_federation_allow => '127.0.0.1/32',
                      %{ $nginx->{svc} // {} }, %{ $opt{svc} // {} } };

    my $self = bless { s => $s, n => 0 }, $class;

    local $ENV{NODE_NO_WARNINGS} = 1;

    my $base = $opt{base} // $nginx->{svc_default}{svc_base_url} // $s->base_url;

    local $ENV{LOGOUT} = defined $opt{logout} ? "$base$opt{logout}" : '';

    my $program = $opt{lies} ? 'upstream.mjs' : $opt{named} ? 'providers.mjs' : 'idp.mjs';

    $self->{pid} = open2(my $out, my $in, 'node', "$npm/$program", $receiver->{dir}, $opt{n} // 2,
                         map { my $slug = $_;
                               map { $base . callback($_, $slug) }
                                   @{ $opt{keys} // [ qw(oidc-one oidc-two) ] } }
                             @{ $opt{slugs} // [ 'acme' ] });
    @$self{qw(out in)} = ($out, $in);
    @$self{qw(issuers port)} = @{ decode_json($self->line) }{qw(issuers port)};

    return $self;
}


# Waits until there is a helper that fetches.

sub ready {
    my ($self) = @_;

    wait_for { grep { length } $self->{s}->redis->lines(KEYS => 'svc.fetch.helpers') }
        or die "no helper\n";
}


sub DESTROY {
    my ($self) = @_;

    local $?;

    close $self->{in};
    waitpid $self->{pid}, 0;
}


sub ask {
    my ($self, %what) = @_;

    local $\ = "\n";

    $self->{in}->autoflush(1);
    print { $self->{in} } encode_json(\%what);

    return decode_json($self->line);
}


# It also says what would be wrong in production.

sub line {
    my ($self) = @_;

    while (defined(my $line = readline $self->{out})) {
        return $line if $line =~ /^\{/;
    }

    die "the providers are gone\n";
}


# How many requests for tokens, and for keys, there have been.

sub tokens { return $_[0]->ask->{tokens} }
sub jwks { return $_[0]->ask->{jwks} }


# A provider makes other keys, and forgets those that it had.

sub rotate { return $_[0]->ask(rotate => $_[1]) }


# Connects a tenant with one of the providers.  Options: issuer, its number; client, its
# id; issuer_url, of another issuer; and columns of svc.social, as SQL.

sub connect {
    my ($self, $tenant, $key, %set) = @_;
    my $s = $self->{s};
    my $issuer = delete $set{issuer_url} // $self->{issuers}[delete $set{issuer} // 0];
    my $client = delete $set{client} // 'svc';
    my %secret = (svc => 's:e/c r+e%t');

    $tenant->admin(POST => '/social/connections',
                   { provider => 'github', clientId => $client,
                     clientSecret => $secret{$client} // 'secret' })
           ->status == 201 or die "no connection\n";

    my %all = (provider => "'$key'", issuer => "'$issuer'",
               $client eq 'public' ? (client_secret => 'NULL') : (), %set);

    $s->sql('UPDATE svc.social SET updated_at = clock_timestamp(), '
            . join(', ', map { "$_ = $all{$_}" } sort keys %all)
            . " WHERE tenant_id = '$tenant->{id}' AND provider = 'github'");

    # GitHub publishes nothing that is fetched

    $s->sql('INSERT INTO svc.federation_meta (tenant_id, connection_id)'
            . ' SELECT tenant_id, connection_id FROM svc.social'
            . " WHERE tenant_id = '$tenant->{id}' AND provider = '$key'");
}


sub start {
    my ($self, $browser, $key, %body) = @_;

    return $browser->post('/v1/auth/federation/start',
                          { connection => $key,
                            ($browser->{tenant} ? (tenant => $browser->{tenant}) : ()),
                            %body });
}


# Has the providers ask browsers for the name of an account: name => claims.

sub asks { return $_[0]->ask(accounts => $_[1]) }


# Goes to the provider and signs in there.  Returns the path and query that it leads back
# to, and in a list what the form has that it sends there; %more: acr, amr.

sub away {
    my ($self, $url, $account, %more) = @_;
    my $got = $self->ask(url => $url, account => $account, %more);

    return if !defined $got->{location};

    my $to = $got->{location} =~ s{^https?://[^/]*}{}r;

    return wantarray ? ($to, $got->{form}) : $to;
}


# Goes all the way.  Returns the answer of the callback.

sub journey {
    my ($self, $browser, $key, $account, %opt) = @_;
    my $r = $self->start($browser, $key, %{ $opt{body} // {} });

    return $r if $r->status != 200;

    my %more = map { exists $opt{$_} ? ($_ => $opt{$_}) : () } qw(acr amr);

    return $browser->get($self->away($r->json->{redirectTo}, $account, %more)
                         // die "the provider leads nowhere\n");
}


# What a refusal says: the code in the fragment.

sub refusal {
    my ($r) = @_;

    return ($r->header('Location') // '') =~ /#error=(\w+)&id=\w+\z/ ? $1 : undef;
}


1;
