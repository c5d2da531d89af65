package SvcTest::Npm;

# Programs for Node.js with the packages of t/npm/package.json, which are
# installed into build/npm when they are not there.

use strict;
use warnings;

use Exporter qw(import);
use File::Copy qw(copy);
use File::Path qw(make_path);
use IPC::Open2;

use SvcTest::Process qw(slurp);

our @EXPORT = qw(npm_run);


# Runs t/npm/$script with $input; what it printed.  Dies when it fails.

sub npm_run {
    my ($root, $script, $input) = @_;

    my $dir = install($root);

    copy("$root/t/npm/$script", "$dir/$script") or die "$dir/$script: $!\n";

    my $pid = open2(my $out, my $in, 'node', "$dir/$script");

    print $in $input;
    close $in;

    my $text = do { local $/; <$out> };

    waitpid $pid, 0;
    die "node $script: status $?\n" if $?;

    return $text;
}


sub install {
    my ($root) = @_;

    my $dir = "$root/build/npm";
    my $want = slurp("$root/t/npm/package.json");

    make_path($dir);

    return $dir if -d "$dir/node_modules"
                   && (slurp("$dir/package.json") // '') eq $want;

    copy("$root/t/npm/package.json", "$dir/package.json")
        or die "$dir/package.json: $!\n";

    system("cd '$dir' && npm install --no-package-lock --ignore-scripts"
           . " --no-audit --no-fund --loglevel=error >npm.log 2>&1") == 0
        or do {
            unlink "$dir/package.json";
            die 'npm install: ' . slurp("$dir/npm.log") . "\n";
        };

    return $dir;
}


1;
