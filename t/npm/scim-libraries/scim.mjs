// What public libraries of SCIM make of users: scim2-parse-filter and scimmy of a filter,
// scim-patch of operations, scimmy's parser of the operations and of the users.
//
// Input: { users, filters, patches: [ { user, operations } ] }.  Prints { filters: { text:
// { library: [ id ] } }, patches: [ user ], users: [ error or null ] }.

import { text } from 'node:stream/consumers';
import { scimPatch } from 'scim-patch';
import parsed from 'scim2-parse-filter';
import SCIMMY from 'scimmy';

const { users, filters, patches } = JSON.parse(await text(process.stdin));
const said = { filters: {}, patches: [], users: [] };

SCIMMY.Schemas.User.definition.extend(SCIMMY.Schemas.EnterpriseUser.definition);

for (const filter of filters) {
    said.filters[filter] = {
        'scim2-parse-filter': users.filter(parsed.filter(parsed.parse(filter)))
                                   .map(user => user.id),
        'scimmy': new SCIMMY.Types.Filter(filter).match(users).map(user => user.id)
    };
}

for (const { user, operations } of patches) {
    said.patches.push(scimPatch(structuredClone(user), operations));
}

for (const user of users) {
    try {
        SCIMMY.Schemas.User.definition.coerce(user, 'out');
        said.users.push(null);
    } catch (error) {
        said.users.push(`${error}`);
    }
}

process.stdout.write(JSON.stringify(said));
