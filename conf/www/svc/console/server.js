// What the operator has switched on at this server, and its times, as GET /v1/admin/console
// says.

import { call } from "../ui/call.js";

export let server = null;

export const ask = async () => {
  ({ data: server } = await call({ path: "/admin/console" }));
};
