<?php

/* Makes bcrypt's strings, of lines of a cost and a password in hexadecimal. */

while (($line = fgets(STDIN)) !== false) {
    [$cost, $password] = explode(' ', trim($line));

    echo password_hash(hex2bin($password), PASSWORD_BCRYPT,
                       ['cost' => (int) $cost]), "\n";
}
