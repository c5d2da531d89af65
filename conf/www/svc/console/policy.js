// The policies: who may sign in and how, what passwords must be, and all of it as code.

import { styled } from "../ui/style.js";
import { Access } from "./access.js";
import { Configuration } from "./config.js";
import { Passwords } from "./passwords.js";
import { Risk } from "./risk.js";

await styled("/svc/console/policy.css");

export default {
  access: { List: Access },
  risk: { List: Risk },
  passwords: { List: Passwords },
  configuration: { List: Configuration },
};
