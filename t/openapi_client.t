#!/usr/bin/perl

# Shows that a client for TypeScript, generated from the published contract, works
# with the server, and that the documented way makes one.

use strict;
use warnings;

use Cwd ();
use File::Copy qw(copy);
use File::Path qw(remove_tree);
use File::Temp ();
use Test::More;

use SvcTest;
use SvcTest::Documents qw(section examples);
use SvcTest::Governance qw($ALL);
use SvcTest::Npm;
use SvcTest::Process qw(on_exit run slow slurp write_file);

my $s = SvcTest->new(workers => 1, svc => { svc_postgres_pool => [
    map { "$_ connections=1 depth=4" } qw(read write slow) ] })->start;
my $acme = $s->tenant('acme');
my $npm = npm_install($s->root);
my $dir = File::Temp::tempdir("$npm/client.XXXXXX");

on_exit(sub { remove_tree($dir) });

$s->sql("UPDATE svc.credential SET permissions = '{$ALL}'"
        . " WHERE id = '$acme->{api_id}'");
$acme->create(userName => "$_\@acme.test") for qw(ada bob eve);


# Runs a command in the client's folder, which has to succeed; returns its output.

sub in_folder {
    my ($name, @command) = @_;
    my ($status, $text) = run([ @command ], cwd => $dir, timeout => slow(300));

    is($status, 0, $name) or diag($text);

    return $text;
}


# The packages may come from any place.

unlike(slurp($s->root . '/t/npm/package-lock.json'), qr/"resolved"/,
       'the lock file names no place');


# --- the documented commands ---------------------------------------------------------

my $section = section('ngx_svc_admin/README.md', 'Generating a client');
my ($commands) = examples('bash', $section);
my ($snippet) = examples('ts', $section);
my ($generate) = $commands =~ /^(npx openapi-typescript .*)$/m;

like($commands, qr/^npm install (?:--save-dev )?[a-z -]+$/m, 'what to install');

for my $package (map { split ' ', $_ =~ s/--save-dev //r }
                 $commands =~ /^npm install (.*)$/mg)
{
    like(slurp("$npm/package.json"), qr/"\Q$package\E": "\d/,
         "$package is what the tests use");
}

in_folder('types from the document', 'env', 'SVC_BASE_URL=' . $s->base_url,
          'npm_config_offline=true', 'sh', '-c', $generate);
like(slurp("$dir/svc.d.ts"), qr/^export interface paths \{$/m, 'are there');


# --- compiling -----------------------------------------------------------------------

copy("$npm/client.ts", $dir) or die "client.ts: $!\n";
write_file("$dir/readme.ts", $snippet);
write_file("$dir/use.ts", <<'EOT');
import { ensureGroup } from "./readme.js";

declare const process: { argv: string[] };

const [url, token] = process.argv.slice(2);
const made = await ensureGroup(url!, token!, "Plant B");
const found = await ensureGroup(url!, token!, "Plant B");

console.log(typeof made, made === found);
EOT

# The compiler finds calls that the contract does not have, in one run with calls that
# it has to accept.

my @wrong = ('await svc.GET("/v1/admin/nothing");',
             'await svc.POST("/v1/admin/groups", { body: { nam: "x" } });',
             'await svc.POST("/v1/admin/config/plan", { params: { query:'
             . ' { detail: "yes" } }, body: { version: 1 } });',
             'await svc.PUT("/v1/admin/risk-policy", { body:'
             . ' { mfaThreshold: "40" } });',
             'say("x", isCode(undefined, "no_such_code"));',
             'say("x", (await users())[0]!.title.length);');
my $client = slurp("$dir/client.ts");
my $lines = $client =~ tr/\n//;

write_file("$dir/wrong.ts", join "\n", $client . shift @wrong, @wrong);

my ($status, $text) = run([ 'node', "$npm/node_modules/typescript/bin/tsc",
    '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib',
    'es2022,dom', '--skipDefaultLibCheck', 'client.ts', 'use.ts', 'wrong.ts' ],
    cwd => $dir, timeout => slow(300));

is_deeply([ $text =~ /^(\w+\.\w+\(\d+),\d+\): error/mg ],
          [ map { 'wrong.ts(' . ($lines + $_) } 1 .. @wrong + 1 ],
          'tsc --strict takes what is right, and nothing of what is wrong')
    or diag($text);


# --- running ------------------------------------------------------------------------

my @at = ($s->base_url, $acme->{api_token});

is(in_folder('the client', 'node', 'client.js', @at), <<'EOT', 'says');
users: ["eve@acme.test","bob@acme.test","ada@acme.test"]
created: [201,0]
replayed: ["true",true]
conflict: [409,"conflict"]
members: 3
deleted: [204,null,true]
changed: 90
changed meanwhile: true
plan: [["create","role:auditor",{"key":"auditor","name":"Auditor","permissions":["audit:view"]}]]
applied: true
token: [true,"no-store",true]
forbidden: true
revoked: true
branding: {"radius":8,"primary":"#0A66C2"}
event: [["tenant.updated","tenant","apiToken"]]
EOT

is(in_folder('the documented client', 'node', 'use.js', @at), "string true\n",
   'makes a group, and finds it');

$s->done;
done_testing();
