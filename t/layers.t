#!/usr/bin/perl

# Shows that each folder of sources includes and calls only what is below it, that no
# files need each other in a circle, that what a header declares is in the file of its
# name, and that no macro is defined in two files.

use strict;
use warnings;

use File::Find qw(find);
use Test::More;


# From the bottom. All surfaces are above "common"; no surface has anything of another
# one.

my %FLOORS = (
    common => [ qw(base metrics zone access pg redis http) ],
    admin => [ qw(limit core ldap password factor tenant directory governance config audit
                  signin method_* methods console federation oauth) ],
    scim => [],
    webhook => [ qw(core queue emit http lane fetch log schedule mail scim_push logout outbox process
                    api) ],
);

my ($objects) = grep { -d } map { "build/$_/objs/addon" }
                                qw(nginx-dev-cc nginx-dev-clang sanitize/src);


my %floor;      # the surface of a folder, and its number there

for my $surface (keys %FLOORS) {
    my @floors = map { "ngx_svc_$surface/$_" } @{ $FLOORS{$surface} };

    # folders of one floor need nothing of each other

    for my $number (0 .. $#floors) {
        $floor{$_} = [ $surface, $number ] for glob $floors[$number];
    }

    $floor{"ngx_svc_$surface"} = [ $surface, scalar @floors ];
}


# --- the files, and what they include ------------------------------------------

my (%folder, %needs, %unit);

find({ no_chdir => 1, wanted => sub {
    my ($folder, $file) = m{^(.*)/([^/]+\.[ch])$} or return;

    die "$file is there twice\n" if $folder{$file};

    $folder{$file} = $folder;
    $unit{$1} = $file if $file =~ /^(.*)\.c$/;
} }, map { "ngx_svc_$_" } keys %FLOORS);

for my $file (keys %folder) {
    open my $fh, '<', "$folder{$file}/$file" or die "$file: $!\n";

    while (<$fh>) {
        $needs{$file}{$1} = '#include'
            if /^#include "([^"]+)"/ && $folder{$1};
    }
}


# --- calls; a module's object is how nginx finds its configuration ---------------

die "no object files: make build\n" if !$objects;

my (%defines, %object, @calls);

find({ no_chdir => 1, wanted => sub {
    my ($name) = m{([^/]+)\.o$} or return;

    $object{$_} = $unit{$name} if $unit{$name};
} }, $objects);

# One nm reads all of them: it takes longer to start than to read one.

open my $nm, '-|', 'nm', '-A', sort keys %object or die "nm: $!\n";

while (<$nm>) {
    my ($object, $type, $symbol) = /^(.*):[0-9a-f ]+ ([A-Za-z]) (ngx_\w+)$/ or next;
    my $file = $object{$object};

    next if $symbol =~ /_module$/;

    if ($type =~ /[TDBRCWV]/) {
        $defines{$symbol} = $file;

    } elsif ($type =~ /[Uw]/) {
        push @calls, [ $file, $symbol ];
    }
}

close $nm or die "nm: $?\n";

for (@calls) {
    my ($file, $symbol) = @$_;
    my $other = $defines{$symbol};

    $needs{$file}{$other} //= $symbol if $other && $other ne $file;
}

cmp_ok(scalar keys %defines, '>', 500, 'the functions are known');


# --- downwards ----------------------------------------------------------------

is_deeply([ grep { !$floor{$_} } sort values %folder ], [],
          'each folder has a floor');

my @upwards;

for my $file (sort keys %needs) {
    my ($surface, $number) = @{ $floor{ $folder{$file} } };

    for my $other (sort keys %{ $needs{$file} }) {
        my ($its, $below) = @{ $floor{ $folder{$other} } };

        next if $folder{$other} eq $folder{$file};
        next if $its eq $surface ? $below < $number : $its eq 'common';

        push @upwards, "$folder{$file}/$file needs $folder{$other}/$other"
                       . " ($needs{$file}{$other})";
    }
}

is_deeply(\@upwards, [], 'folders need what is below them');


# --- circles: Tarjan's strongly connected components -----------------------------

my (%index, %low, %on, @stack, @circles);
my $n = 0;

sub visit {
    my ($file) = @_;

    $index{$file} = $low{$file} = $n++;
    $on{$file} = 1;
    push @stack, $file;

    for my $other (sort keys %{ $needs{$file} }) {
        if (!defined $index{$other}) {
            visit($other);
            $low{$file} = $low{$other} if $low{$other} < $low{$file};

        } elsif ($on{$other} && $index{$other} < $low{$file}) {
            $low{$file} = $index{$other};
        }
    }

    return if $low{$file} < $index{$file};

    my @circle;

    do {
        push @circle, pop @stack;
        $on{ $circle[-1] } = 0;
    } while ($circle[-1] ne $file);

    push @circles, join ' ', sort @circle if @circle > 1;
}

no warnings 'recursion';

for my $file (sort keys %folder) {
    visit($file) if !defined $index{$file};
}

is_deeply(\@circles, [], 'no files need each other');


# --- headers: what one declares is in the file of its name ---------------------------

# Metrics, and the resources of routes, are left out: their tables are read elsewhere.

my @tidy = ((map { "ngx_svc_common/$_" } qw(base zone access pg redis)),
            map { "ngx_svc_webhook/$_" } qw(core queue emit http lane fetch log schedule
                                            mail scim_push logout process));
my @strays;

for my $header (sort grep { /\.h$/ } keys %folder) {
    next if !grep { $_ eq $folder{$header} } @tidy;

    open my $fh, '<', "$folder{$header}/$header" or die "$header: $!\n";
    my $text = do { local $/; <$fh> } =~ s{/\*.*?\*/}{}gsr;

    for my $name ($text =~ /^\w[^;{}#]*?\b(ngx_svc_\w+)\s*\([^;{}]*\);/mg) {
        my $file = $defines{$name} or next;

        push @strays, "$header: $name() is in $file"
            if $file =~ s/\.c$/.h/r ne $header;
    }
}

is_deeply(\@strays, [], 'what a header declares is in the file of its name');


# --- macros: a name means one thing ------------------------------------------------

my %macro;

for my $file (sort keys %folder) {
    open my $fh, '<', "$folder{$file}/$file" or die "$file: $!\n";

    while (<$fh>) {
        $macro{$1}{$file} = 1 if /^#\s*define\s+(\w+)/;
    }
}

is_deeply([ map { "$_: " . join ' ', sort keys %{ $macro{$_} } }
            grep { keys %{ $macro{$_} } > 1 } sort keys %macro ], [],
          'no two files define the same macro');

done_testing();
