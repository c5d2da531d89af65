// The first script of the console: whose session it is, in which language, and then
// the shell.

import { Failure, refresh, session } from "../ui/call.js";
import "../ui/again.js";
import { h, mount } from "../ui/draw.js";
import { Problem } from "../ui/fail.js";
import { tell } from "../ui/text.js";
import { speak } from "../ui/words.js";
import { begin, Shell } from "./shell.js";

// A session that waits for something, or none: the page of sign-in knows what to do.

const WAITS = ["unauthenticated", "unauthorized", "step_up_required",
               "mfa_enrollment_required", "password_expired"];

const login = () => {
  const tenant = new URLSearchParams(location.search).get("tenant")
                 ?? localStorage.getItem("svc-tenant");
  const to = encodeURIComponent(location.pathname + location.search);

  location.replace(`/login?${tenant ? `tenant=${encodeURIComponent(tenant)}&` : ""}`
                   + `return_to=${to}`);
};

document.documentElement.dataset.theme = localStorage.getItem("svc-theme") ?? "";

try {
  await refresh();
  speak(session.user.locale);
  localStorage.setItem("svc-tenant", session.tenant.slug);

  if (session.permissions.length === 0) {
    location.replace("/account");

  } else {
    await Promise.all([tell("ui/lists"), begin()]);
    mount(document.body, h(Shell));
  }

} catch (e) {
  if (e instanceof Failure && WAITS.includes(e.code)) {
    login();

  } else {
    await tell();
    mount(document.body, h("main", {}, h(Problem, {
      failure: e, again: () => location.reload(),
    })));
  }
}
