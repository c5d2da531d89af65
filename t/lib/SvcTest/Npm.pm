package SvcTest::Npm;

# Runs programs for Node.js from a folder with a package-lock.json, and installs
# their packages when they are missing: those of t/npm into build/npm.  The
# packages are a link into a cache of the user, which all checkouts share, and
# from which packages are removed after a month without use.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use Fcntl qw(LOCK_EX);
use File::Basename qw(basename);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use IPC::Open2;

use SvcTest::Process qw(slurp);
use SvcTest::Skip;

needs(program => 'node npm');

our @EXPORT = qw(npm_run npm_install);

my @PACKAGES = qw(package.json package-lock.json .npmrc);
my $UNUSED = 30;                # days after which packages are removed


# Runs t/npm/$script, or a script of another folder as in npm_install(), with
# $input.  Returns its output; dies when it fails.

sub npm_run {
    my ($root, $script, $input, @folder) = @_;

    my $dir = npm_install($root, @folder);
    my $pid = open2(my $out, my $in, 'node', "$dir/$script");

    print $in $input;
    close $in;

    my $text = do { local $/; <$out> };

    waitpid $pid, 0;
    die "node $script: status $?\n" if $?;

    return $text;
}


# Returns the folder with the packages and all files of the programs; both
# folders are below $root.

sub npm_install {
    my ($root, $programs, $into) = @_;

    my $from = "$root/" . ($programs // 't/npm');
    my $dir = "$root/" . ($into // 'build/npm');

    make_path($dir);

    my $lock = locked("$dir/lock");

    update($from, $dir, grep { !/^package/ } map { s{.*/}{}r }
                        grep { -f } glob "$from/*");

    return $dir if !update($from, $dir, packages($from)) && -e "$dir/installed"
                   && -e "$dir/node_modules";

    unlink "$dir/installed";

    if (my $cache = cache(basename($dir), $dir)) {
        remove_tree("$dir/node_modules") if !unlink "$dir/node_modules";
        symlink "$cache/node_modules", "$dir/node_modules"
            or die "$dir/node_modules: $!\n";

    } else {
        npm_ci($dir);
    }

    touch("$dir/installed");

    return $dir;
}


# Returns the files that say which packages are needed, and how they are
# installed.

sub packages {
    my ($dir) = @_;

    return grep { -e "$dir/$_" } @PACKAGES;
}


sub locked {
    my ($file) = @_;

    open my $lock, '>', $file or die "$file: $!\n";
    flock $lock, LOCK_EX;

    return $lock;
}


sub touch {
    my ($file) = @_;

    open my $fh, '>', $file or die "$file: $!\n";
    close $fh;
}


# Returns the folder of the cache, of the name $name, with the packages of $dir;
# undef when no cache can be made.

sub cache {
    my ($name, $dir) = @_;

    my $all = ($ENV{XDG_CACHE_HOME} || ($ENV{HOME} // '') . '/.cache') . '/ngx_svc';
    my ($node) = qx(node --version);
    my $cache = "$all/$name-" . substr sha256_hex(join "\0", $node // '',
                                    map { slurp("$dir/$_") } packages($dir)), 0, 16;

    return if !eval { make_path($cache); -w $cache };

    my $lock = locked("$cache/lock");

    if (!-e "$cache/installed") {
        copy("$dir/$_", $cache) or die "$dir/$_: $!\n" for packages($dir);
        npm_ci($cache);
    }

    touch("$cache/installed");
    remove_tree(map { s{/installed\z}{}r } grep { -M > $UNUSED }
                glob quotemeta($all) . '/*/installed');

    return $cache;
}


# Installs packages; those in npm's own cache are not downloaded again.

sub npm_ci {
    my ($dir) = @_;

    system("cd '$dir' && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline"
           . " --loglevel=error >npm.log 2>&1") == 0
        or die 'npm ci: ' . slurp("$dir/npm.log") . "\n";
}


# Copies files that differ.  Returns how many.

sub update {
    my ($from, $dir, @names) = @_;

    my @new = grep { slurp("$from/$_") ne (slurp("$dir/$_") // '') } @names;

    for my $name (@new) {
        copy("$from/$name", $dir) or die "$from/$name: $!\n";
    }

    return scalar @new;
}


1;
