#!/usr/bin/perl

# Shows that the script for pipelines works, and that the documented jobs for GitHub
# and GitLab run it.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Bundle;
use SvcTest::Documents qw(document);
use SvcTest::Process qw(slurp write_file);
use SvcTest::Skip;

needs(program => 'curl jq');

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my ($all, @groups) = SvcTest::Bundle::tenant($s, $acme, 2);
my $document = document('ngx_svc_admin/policy-as-code.md');
my $pipeline = slurp($s->root . '/conf/tenant-pipeline');
my $dir = $s->dir . '/checkout';

mkdir $dir or die "$dir: $!\n";


# Returns what a job runs: the one command after "run:", or below "script:".

sub script {
    my ($file) = @_;

    my ($yaml) = $document =~ /^```yaml\n# \Q$file\E\n(.*?)^```$/ms
        or die "no $file in the document\n";
    my @commands = $yaml =~ /^[ ]+(?:run:|script:\n[ ]+-)[ ](.*)\n(?![ ]+- )/mg;

    is(scalar @commands, 1, "$file: one command");

    return "$commands[0]\n";
}


my $script = script('.github/workflows/tenant.yml');
is(script('.gitlab-ci.yml'), $script, 'both run the same');
is($script, "sh tenant-pipeline\n", 'the script');
like($pipeline, qr/apply\?prune=true/, 'to its end');
unlike($pipeline, qr/\$\{\{/, 'without what only one of them knows');

write_file("$dir/job", $script);
write_file("$dir/tenant-pipeline", $pipeline);


# Runs a command; returns its exit status and its output.

sub job {
    my ($command, %env) = @_;

    %env = (SVC_BASE_URL => $s->base_url, SVC_TOKEN => $all, %env);

    my $env = join ' ', map { "$_='$env{$_}'" } sort keys %env;
    my $text = qx(cd $dir && env $env $command 2>&1);

    return ($? >> 8, $text);
}


sub bundle {
    write_file("$dir/tenant.json", @_);
}


sub export {
    return $acme->admin(GET => '/config', undef, [], $all)->body;
}


for my $shell ('bash -e tenant-pipeline', 'sh -e tenant-pipeline', 'bash -e job') {
    my ($rc, $text);

    bundle(export());
    ($rc, $text) = job($shell);
    is($rc, 0, "$shell: no drift") or diag($text);
    is($text, "no drift\n", 'it says so');
    is((job($shell, MODE => 'apply'))[0], 0, 'nothing to apply');

    my $name = "\\\\n \\\"$shell\\\"";

    my $wanted = "{\"version\":1,\"riskPolicy\":{\"enabled\":"
                 . ($shell =~ /bash/ ? 'true' : 'false')
                 . ',"mfaThreshold":40,"denyThreshold":80},'
                 . "\"roles\":[{\"key\":\"auditor\",\"name\":\"$name\","
                 . '"permissions":["audit:view"]}]}';

    bundle($wanted);
    ($rc, $text) = job($shell);
    is($rc, 2, 'drift') or diag($text);
    like($text, qr/^update riskPolicy enabled$/m, 'what it is');
    like($text, qr/^(?:create|update) role:auditor/m, 'all of it');
    is((job($shell, DRIFT => 0))[0], 0, 'which may be no failure');

    ($rc, $text) = job($shell, MODE => 'apply');
    is($rc, 0, 'it is applied') or diag($text);
    ($rc, $text) = job($shell);
    is($rc, 0, 'and then there is none') or diag($text);

    bundle('{"version":1,"roles":[]}');
    $s->sql("INSERT INTO svc.user_account (tenant_id, id, user_name, role)"
            . " VALUES ('$acme->{id}', gen_random_uuid(), '$_\@acme.test',"
            . " 'auditor')") for $shell =~ s/\W+/./gr;
    ($rc, $text) = job($shell);
    is($rc, 1, 'a role that is in use');
    like($text, qr/^warning: role_in_use: /m, 'a warning');
    is((job($shell, DRIFT => 0))[0], 1, 'fails in a pull request too');
    ($rc, $text) = job($shell, MODE => 'apply');
    is($rc, 1, 'is not deleted');
    like($text, qr/role_in_use/, 'and said so');

    bundle('{"version":1,"role":[]}');
    ($rc, $text) = job($shell);
    is($rc, 1, 'a bundle that is wrong');
    like($text, qr/\\"role\\"/, 'is told');
    is((job($shell, DRIFT => 0))[0], 1, 'in a pull request too');

    bundle(export());
    is((job($shell, SVC_TOKEN => 'svc_unknown'))[0], 1, 'a token that is wrong');
    is((job($shell, SVC_BASE_URL => 'http://127.0.0.1:1'))[0], 1,
       'no server');
    ($rc, $text) = job($shell, MODE => 'aply');
    is($rc, 1, 'a mode that is none');
    like($text, qr/MODE is plan or apply, not "aply"/, 'is told');
}

$s->done;
done_testing();
