// The tenant's logo in the frame.

import { call } from "../ui/call.js";
import { effect, h, state } from "../ui/draw.js";

const heard = new Set();
let branding = null;

// This host has what the address of another one of the service leads to.

export function pictureOf({ logoUrl }) {
  const { pathname, search } = new URL(logoUrl, location.origin);

  return pathname + search;
}

// Whoever changes the branding has the frame show it.

export function dress(next) {
  branding = next;
  heard.forEach(action => action(next));
}

// Nobody waits for it: where it cannot be read, nobody is asked anything.

const ask = () => branding ?? call({ path: "/admin/tenant", now: true })
  .then(({ data }) => dress(data.tenant.branding), () => {});


export function Logo() {
  const [now, setNow] = state(branding);

  effect(() => {
    ask();
    heard.add(setNow);

    return () => heard.delete(setNow);
  }, []);

  return now?.logoUrl ? h(Picture, { branding: now, alt: "" }) : null;
}

// It stands on what it is made for.

export function Picture({ branding, src = pictureOf(branding), alt }) {
  const { surface } = branding;

  effect(element => {
    element.style.backgroundColor = surface ?? "";
  }, [surface]);

  return h("img", { class: "logo", src, alt });
}
