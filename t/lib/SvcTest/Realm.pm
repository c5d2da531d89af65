package SvcTest::Realm;

# Domains of a tenant, and connections by which their people come in; as rows, for no
# identity provider is asked.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(verified saml oidc came_by force);


sub verified {
    my ($s, $tenant, $domain, $above) = @_;

    $s->sql('INSERT INTO svc.domain (tenant_id, domain, verified_at, include_subdomains)'
            . " VALUES ('$tenant->{id}', '$domain', now(), " . ($above ? 'true' : 'false')
            . ')');
}


# Both return the connection's id.  domains: those of its people, separated by commas.

sub saml {
    my ($s, $tenant, $domains) = @_;

    my $text = defined $domains ? "'{$domains}'" : 'NULL';

    return scalar $s->sql(<<"EOT");
INSERT INTO svc.saml_sp (tenant_id, enabled, idp_entity_id, idp_sso_url, idp_certificates,
                         name_id_format, attribute_mapping, jit_provisioning, domains, label)
VALUES ('$tenant->{id}', true, 'https://idp.test', 'https://idp.test/sso', '["x"]',
        'emailAddress', '{}', false, $text, 'Acme SSO')
RETURNING connection_id
EOT
}


sub oidc {
    my ($s, $tenant, $key, $domains) = @_;

    my $text = defined $domains ? "'{$domains}'" : 'NULL';

    return scalar $s->sql(<<"EOT");
INSERT INTO svc.social (tenant_id, provider, issuer, client_id, client_secret_id, enabled,
                        domains)
VALUES ('$tenant->{id}', '$key', 'https://op.test', 'client', gen_random_uuid(), true, $text)
RETURNING connection_id
EOT
}


# The live sessions of a user become ones that began by the connection.

sub came_by {
    my ($s, $user, $connection) = @_;

    $s->sql("UPDATE svc.session SET connection_id = '$connection'"
            . " WHERE user_id = '$user->{id}' AND ended_at IS NULL");
}


# Nobody is asked whether the domain may be forced.

sub force {
    my ($s, $tenant, $domain, $connection) = @_;

    $s->sql("UPDATE svc.domain SET sign_in = '$connection', rp_id = 'localhost'"
            . " WHERE tenant_id = '$tenant->{id}' AND domain = '$domain'");
}


1;
