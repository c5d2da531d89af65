// Whether signatures of webhooks are good, in the eyes of others.
//
// stdin: [ { "secret", "body", "signature" } ]; body in base64
// stdout: a line for each, "true" or "false"

import { readFileSync } from 'node:fs';
import { verify } from '@octokit/webhooks-methods';

for (const { secret, body, signature } of
     JSON.parse(readFileSync(0, 'utf8')))
{
    console.log(await verify(secret, Buffer.from(body, 'base64').toString(),
                             signature));
}
