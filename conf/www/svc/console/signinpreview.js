// The page of sign-in as it would be with what is typed: its own style sheet, its form and
// its branding, in a shadow root.  Nothing in it can be used.

import { brand } from "../brand.js";
import { button, form, h as element, into, say, show, text } from "../page.js";
import { effect, h, state } from "../ui/draw.js";
import { shown } from "../ui/words.js";
import { server } from "./server.js";

const SCENES = ["plain", "wrong"];


// "theme" is branding as the server has it, and "logo" a picture that is not kept yet.
// "told" gets what brand() has found, and the colours of a page without branding.

export function Preview({ name, theme, logo, signUp, byMail, told, words }) {
  const [place, setPlace] = state(null);
  const [scene, setScene] = state(SCENES[0]);
  const [narrow, setNarrow] = state(false);
  const looks = JSON.stringify([name, theme, logo, signUp, byMail, scene]);

  effect(drawn => {
    begin(drawn.querySelector(".page")).then(setPlace);
  }, []);

  effect(() => {
    if (place) {
      fillIn(place, { name, signUp, byMail, wrong: scene === "wrong" });
      told({ own: dress(place, {}, "").given, ...dress(place, theme, name, logo) });
    }
  }, [place, looks]);

  return h("section", { class: "panel preview" },
    h("h2", {}, words.preview),
    h("div", { class: "actions", role: "group", "aria-label": words.preview },
      SCENES.map(one => h("button", {
        key: one, type: "button", "aria-pressed": String(one === scene),
        onclick: () => setScene(one),
      }, words.scenes[one])),
      h("button", {
        type: "button", "aria-pressed": String(narrow), onclick: () => setNarrow(!narrow),
      }, words.narrow)),
    h("div", { class: narrow ? "frame narrow" : "frame" },
      h("div", { class: "page", inert: true })),
    h("p", { class: "muted" }, words.previewNote));
}


// What a page has, once its style sheet is there.

function begin(host) {
  const place = host.attachShadow({ mode: "open" });

  return new Promise(loaded => {
    const there = () => loaded(place);

    place.append(
      element("link", { rel: "stylesheet", href: "/svc/page.css", load: there, error: there }),
      element("main", {}, element("div", { id: "brand" }), element("p", { id: "error" }),
              element("div", { id: "view" })));
  });
}

function fillIn(place, { name, signUp, byMail, wrong }) {
  const back = into(place);
  const none = () => {};
  const { features } = server;

  show(`${text.signIn} – ${shown(name)}`,
       form([{ name: "email", label: text.email, type: "email" },
             { name: "password", label: text.password, type: "password" }], text.signIn, none),
       features.passkey && button(text.usePasskey, none),
       byMail && features.mail && button(text.mailCode, none),
       features.passwordReset && button(text.forgot, none),
       signUp && button(text.signUp, none));

  if (wrong) {
    say({ code: "invalid_credentials" });
  }

  back();
}

// Begins anew, as a page does.  A picture that is not kept yet has no address.

function dress(place, theme, name, logo) {
  const picture = place.querySelector("#brand");

  place.host.removeAttribute("style");
  picture.replaceChildren();

  const found = brand(theme, name, place);

  if (logo) {
    picture.replaceChildren(element("img", { src: logo, alt: name }));
  }

  return found;
}
