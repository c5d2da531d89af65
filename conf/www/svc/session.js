// Who has signed in; and what comes before, where something is missing.

import {
  button, call, csrfToken, fill, link, names, note, onCode, pageOf, post, say, show,
  text,
} from "./page.js";

// Goes on with what waited for a session, or where somebody wants to go.

export function done(session) {
  const { after, next } = home;

  home.after = null;

  if (after) {
    return after(session);
  }

  return next ? location.replace(next) : signedIn(session);
}

export function signedIn(session) {
  const { user, tenant } = session;

  names.name = tenant.name;
  show(text.signedIn,
       note(fill(text.signedInAs, { name: user.displayName ?? user.email,
                                    tenant: tenant.name })),
       home.next && link(home.next, text.goOn),
       button(text.signOut, leave));
}

export async function leave() {
  await post("/auth/logout");

  return location.pathname === "/login" ? location.reload() : home.show();
}


// Whoever was here before: a session, one that waits for something, or nobody.

export const home = {
  show: () => location.assign(pageOf("login")),
  start: null,
  after: null,
  next: null,
};

export async function resume(whole = done) {
  if (!csrfToken()) {
    return home.show();
  }

  try {
    await whole(await call("GET", "/v1/auth/session"));

  } catch (e) {
    if (e.code !== "unauthenticated") {
      throw e;
    }

    await home.show();
  }
}

async function over(e) {
  await resume();
  say(e);
}


const step = name => async () => (await import("./steps.js"))[name]();

const other = async e => (await import("./others.js")).answer(e);

onCode({
  step_up_required: step("secondFactor"),
  mfa_enrollment_required: step("enrol"),
  password_expired: step("expired"),
  directory_account: other,
  directory_password_expired: other,
  email_unverified: other,
  link_required: other,
  no_account: other,
  sso_required: other,
  challenge_expired: over,
  unauthenticated: over,
});


// --- an address ----------------------

// What a body has besides: the tenant, if the page knows one.

export function named(values) {
  names.email = values.email;

  return { ...values, tenant: names.tenant };
}

export const emailField = () => ({
  name: "email", label: text.email, type: "email", value: names.email,
  autocomplete: "username", maxlength: "254",
});
