#!/usr/bin/perl
#
# Tells under which keys secrets are sealed, and seals them anew under the first
# one.
#
#     secrets.pl ME status TABLE PSQL...
#     secrets.pl ME reseal TABLE PSQL...
#     secrets.pl ME reseal-drop-codes TABLE PSQL...
#     secrets.pl ME open TABLE PSQL...
#
# The key file is on descriptor 3; TABLE is secrets.tsv, and PSQL a command that
# takes SQL on its standard input.  The exit status is 3 when rows are left
# whose key is not in the file, and 4 when PSQL has failed, which has printed
# the reason itself.

use strict;
use warnings;

use IPC::Open2 qw(open2);

use constant { BATCH => 1000, LEFT => 3, FAILED => 4, PASSES => 60, NONCE => 12,
               TAG => 16 };

my $ID = qr/[A-Za-z0-9_-]{1,32}/;

my ($me, $command, $table, @psql) = @ARGV;
my ($to, $from);


sub fail {
    my $text = join '', @_;

    $text =~ tr/\x00-\x1f\x7f/?/;
    print STDERR "$me: $text\n";
    exit 1;
}


# --- the key file ------------------------------------------------------------

# Reads the key file as the modules do.  Returns the ids in order, and the keys
# by id.

sub keys_of {
    open my $fh, '<&=', 3 or fail("the key file cannot be read: $!");

    my (@ids, %key);

    while (my $line = <$fh>) {
        chomp $line;
        next if $line eq '' || $line =~ /^#/;

        my ($id, $hex) = $line =~ /\A($ID):([0-9A-Fa-f]{64})\z/
            or fail("the key file's line $. is not \"id:64 hex digits\"");

        fail("the key file's line $. has an id of an earlier line") if $key{$id};

        push @ids, $id;
        $key{$id} = pack 'H*', $hex;
    }

    fail('the key file has no key') if !@ids;

    return (\@ids, \%key);
}


# --- PostgreSQL --------------------------------------------------------------

sub connect_to {
    $SIG{PIPE} = 'IGNORE';
    open2($from, $to, @psql);

    rows('SET standard_conforming_strings = on; SET jit = off; SET statement_timeout = 0;'
         . ' SET idle_in_transaction_session_timeout = 0');
}


# Returns the rows of a statement, whose values have no tabs and no newlines.

sub rows {
    my ($sql) = @_;
    my @rows;

    print $to "$sql;\n\\echo end of rows\n" and $to->flush or gone();

    while (my $line = <$from>) {
        chomp $line;
        return @rows if $line eq 'end of rows';
        push @rows, [ split /\t/, $line, -1 ];
    }

    gone();
}


# Ends once psql has ended, which has said why.  What it has not read is thrown away here:
# perl would warn of it at the end.

sub gone {
    close $to;
    exit FAILED;
}


sub quoted { return "'" . $_[0] =~ s/'/''/gr . "'" }


# Returns the columns that are sealed.

sub places {
    open my $fh, '<', $table or fail("$table cannot be read: $!");

    my @places;

    while (my $line = <$fh>) {
        next if $line =~ /^#/;
        chomp $line;

        my %place;

        @place{qw(table column kind key where aad)} = split /\t/, $line;
        $place{types} = [ map { (split)[1] } split /, /, $place{key} ];
        $place{key} = [ map { (split)[0] } split /, /, $place{key} ];
        $place{id} = qq{svc.sealed_by($place{column}) COLLATE "C"};
        push @places, \%place;
    }

    return @places;
}


# --- sealing -----------------------------------------------------------------

sub need_cipher {
    return if eval { require Crypt::AuthEnc::GCM; 1 };

    fail('Perl has no Crypt::AuthEnc::GCM: install the package libcryptx-perl');
}


sub random_bytes {
    my ($n) = @_;

    open my $fh, '<:raw', '/dev/urandom' or fail("/dev/urandom: $!");
    (sysread($fh, my $bytes, $n) // 0) == $n or fail("/dev/urandom: $!");

    return $bytes;
}


# Returns a key's cipher, ready for a nonce and the associated data: making one
# takes ten times as long as using it.

my %ciphers;

sub cipher {
    my ($id, $key, $nonce, $aad) = @_;

    my $cipher = $ciphers{$id} //= Crypt::AuthEnc::GCM->new('AES', $key->{$id});

    $cipher->reset;
    $cipher->iv_add($nonce);
    $cipher->adata_add($aad);

    return $cipher;
}


# Returns the text, or undef when it is damaged, or bound to another row.

sub opened {
    my ($sealed, $key, $aad) = @_;

    my ($id, $rest) = unpack 'C/a a*', $sealed;

    return if length $rest < NONCE + TAG;

    my $n = length($rest) - NONCE - TAG;
    my ($nonce, $text, $tag) = unpack 'a' . NONCE . "a$n a" . TAG, $rest;

    my $cipher = cipher($id, $key, $nonce, $aad);

    $text = $cipher->decrypt_add($text);

    return $cipher->decrypt_done($tag) ? $text : undef;
}


sub sealed {
    my ($text, $id, $key, $aad) = @_;

    my $nonce = random_bytes(NONCE);
    my $cipher = cipher($id, $key, $nonce, $aad);

    $text = $cipher->encrypt_add($text);

    return pack('C/a', $id) . $nonce . $text . $cipher->encrypt_done;
}


# --- reseal ------------------------------------------------------------------

# Reports progress to an operator who waits.

my $told = 0;

sub report {
    my ($always, @text) = @_;

    return if !$always && time == $told;

    $told = time;
    print @text, "\n";
    STDOUT->flush or fail("the output cannot be written: $!");
}


# Returns the next rows by their primary key that are under another key than the
# first one.

sub batch_of {
    my ($place, $first, $after) = @_;

    my @key = @{ $place->{key} };
    my $columns = join ', ', @key;
    my $where = "$place->{where} AND $place->{id} <> " . quoted($first);

    $where .= " AND ($columns) > ("
            . join(', ', map { quoted($after->[$_]) . "::$place->{types}[$_]" } 0 .. $#key)
            . ')' if $after;

    return rows("SELECT $columns, $place->{id}, encode($place->{aad}, 'hex'),"
                . " encode($place->{column}, 'hex') FROM svc.$place->{table}"
                . " WHERE $where ORDER BY $columns LIMIT " . BATCH);
}


# Writes those that are unchanged and not locked; returns how many.  One
# statement is a transaction, which waits for nobody.

sub write_batch {
    my ($place, @rows) = @_;

    return 0 if !@rows;

    my @key = @{ $place->{key} };
    my $values = join ", ", map { '(' . join(', ', map { quoted($_) } @$_) . ')' } @rows;
    my $names = join ', ', map { "k$_" } 0 .. $#key;
    my $same = join ' AND ', map { "t.$key[$_] = n.k$_\::$place->{types}[$_]" } 0 .. $#key;
    my $keys = join ', ', map { "t.$key[$_]" } 0 .. $#key;
    my $again = join ' AND ', map { "t.$_ = f.$_" } @key;

    my ($done) = rows(<<"SQL");
WITH n ($names, old, new) AS (VALUES $values), f AS (
    SELECT $keys, decode(n.new, 'hex') AS new
      FROM n JOIN svc.$place->{table} t ON $same
       AND t.$place->{column} = decode(n.old, 'hex')
       FOR NO KEY UPDATE OF t SKIP LOCKED
), u AS (
    UPDATE svc.$place->{table} t SET $place->{column} = f.new
      FROM f WHERE $again RETURNING 1
)
SELECT count(*) FROM u
SQL

    return $done->[0];
}


# Goes over all rows once.  Returns how many were sealed anew, how many others
# have changed or locked, whose key is missing, and how many are damaged.

sub pass {
    my ($place, $total, $before, $ids, $key) = @_;

    my $n = @{ $place->{key} };
    my %sum = (done => $before, left => 0, lack => 0, damaged => 0, lacked => {});
    my $after;

    while (my @rows = batch_of($place, $ids->[0], $after)) {
        my @new;

        for my $row (@rows) {
            my ($id, $aad, $hex) = @$row[$n .. $n + 2];

            if (!$key->{$id}) {
                $sum{lack}++;
                $sum{lacked}{$id} = 1;
                next;
            }

            $aad = pack 'H*', $aad;

            my $text = opened(pack('H*', $hex), $key, $aad);

            if (!defined $text) {
                $sum{damaged}++;
                next;
            }

            push @new, [ @$row[0 .. $n - 1], $hex,
                         unpack 'H*', sealed($text, $ids->[0], $key, $aad) ];
        }

        my $done = write_batch($place, @new);

        $sum{done} += $done;
        $sum{left} += @new - $done;
        $after = [ @{ $rows[-1] }[0 .. $n - 1] ];
        report(0, "$place->{kind}: $sum{done} of $total") if $sum{done} < $total;
        last if @rows < BATCH;
    }

    return \%sum;
}


# Rows that were locked come again in the next pass.

sub reseal_place {
    my ($place, $ids, $key) = @_;

    my ($total) = rows("SELECT count(*) FROM svc.$place->{table} WHERE $place->{where}"
                       . " AND $place->{id} <> " . quoted($ids->[0]));
    my $sum = { done => 0 };

    return 0 if !$total->[0];

    for my $pass (1 .. PASSES) {
        rows('SELECT pg_sleep(1)') if $pass > 1;
        $sum = pass($place, $total->[0], $sum->{done}, $ids, $key);
        last if !$sum->{left};
    }

    report(1, "$place->{kind}: $sum->{done} sealed under $ids->[0]");
    report(1, "$place->{kind}: $sum->{lack} left alone, their keys are not in the file: ",
         join ', ', sort keys %{ $sum->{lacked} }) if $sum->{lack};
    report(1, "$place->{kind}: $sum->{damaged} left alone, they are damaged")
        if $sum->{damaged};
    report(1, "$place->{kind}: $sum->{left} are locked by others: run it again")
        if $sum->{left};

    return $sum->{lack} + $sum->{damaged} + $sum->{left};
}


# The plan must be a walk by the primary key, whatever the statistics say.

sub reseal {
    my ($ids, $key, $drop) = @_;
    my $left = 0;

    need_cipher();
    connect_to();
    drop_codes($ids->[0]) if $drop;

    rows("SET enable_$_ = off") for qw(seqscan bitmapscan sort hashjoin mergejoin);

    $left += reseal_place($_, $ids, $key) for places();

    if (my @codes = codes("key_id <> " . quoted($ids->[0]))) {
        report(1, "recovery codes of $_->[2] users need $_->[0], and cannot be made anew")
            for @codes;
    }

    return $left ? LEFT : 0;
}


# --- status ------------------------------------------------------------------

# Returns key ids, and the number of their codes and users.

sub codes {
    my ($where) = @_;

    return rows("SELECT coalesce(key_id, ''), count(*), count(DISTINCT (tenant_id, user_id))"
                . " FROM svc.recovery_code WHERE $where GROUP BY 1 ORDER BY 1");
}


sub status {
    my ($ids, $key) = @_;
    my (%lines, %lacked);

    connect_to();

    for my $place (places()) {
        push @{ $lines{$_->[0]} }, "$_->[1] $place->{kind}"
            for rows("SELECT $place->{id}, count(*) FROM svc.$place->{table}"
                     . " WHERE $place->{where} AND $place->{id} IS NOT NULL"
                     . ' GROUP BY 1 ORDER BY 1');
    }

    push @{ $lines{$_->[0]} }, "$_->[1] recovery codes of $_->[2] users, who need new ones"
                               . ' when it goes' for codes('true');

    my $unknown = delete $lines{''};
    my %in_file = map { $_ => 1 } @$ids;

    for my $id (@$ids, grep { !$in_file{$_} } sort keys %lines) {
        my $state = !$key->{$id} ? 'missing' : $id eq $ids->[0] ? 'seals' : 'opens';

        $lacked{$id} = 1 if !$key->{$id};
        print "$id $state $_\n" for @{ $lines{$id} // [ 'nothing' ] };
    }

    print "- unknown $_\n" for @{ $unknown // [] };
    STDOUT->flush or fail("the output cannot be written: $!");

    return 0 if !%lacked;

    print STDERR "$me: rows need ", join(', ', sort keys %lacked),
                 ', which the key file lacks: put it back behind the first key, reload',
                 " NGINX, and run \"$me secrets reseal\"\n";
    return LEFT;
}


# --- recovery codes ----------------------------------------------------------

# Deletes the codes that the first key does not open: nobody can seal them anew.

sub drop_codes {
    my ($first) = @_;
    my ($codes, $n) = (0, 0);

    do {
        ($n) = map { $_->[0] } rows(
            'WITH d AS (DELETE FROM svc.recovery_code WHERE (tenant_id, user_id, mac) IN'
            . ' (SELECT tenant_id, user_id, mac FROM svc.recovery_code'
            . ' WHERE key_id IS DISTINCT FROM ' . quoted($first)
            . ' LIMIT ' . BATCH . ' FOR UPDATE SKIP LOCKED) RETURNING 1)'
            . ' SELECT count(*) FROM d');
        $codes += $n;
    } while $n;

    report(1, "recovery codes: $codes deleted") if $codes;
}


# --- open --------------------------------------------------------------------

# One row of each place must be readable; nothing of it is printed.

sub try {
    my ($ids, $key) = @_;

    need_cipher();
    connect_to();

    for my $place (places()) {
        my ($row) = rows("SELECT $place->{id}, encode($place->{aad}, 'hex'),"
                         . " encode($place->{column}, 'hex') FROM svc.$place->{table}"
                         . " WHERE $place->{where} AND $place->{id} IS NOT NULL LIMIT 1")
            or next;
        my ($id, $aad, $hex) = @$row;

        $key->{$id} && defined opened(pack('H*', $hex), $key, pack 'H*', $aad)
            or fail("a row of $place->{table} cannot be opened: the key $id of the file is",
                    ' not the one that sealed it');
    }

    return 0;
}


my %commands = (open => \&try, status => \&status, reseal => \&reseal,
                'reseal-drop-codes' => sub { reseal(@_, 1) });

exit $commands{$command}->(keys_of());
