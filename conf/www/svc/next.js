// Where the browser goes once somebody is signed in: back to what an application asks
// for, or to another page.

import { query } from "./page.js";
import { home } from "./session.js";

const APPLICATION = /^\/oauth\/authorize\?/;
const PAGE = /^\/(?:console(?:[/?]|$)|account(?:\?|$))/;
const LONGEST = 2048;

const CONTROL = /[\0-\x1f\x7f]/;


// The whole address, if the path is one of these however a browser reads it; or
// nothing.  A page's path has to be short, as the server keeps no longer ones.

export function returnTo(path = query.get("return_to")) {
  const application = APPLICATION.test(path);

  if (!application && !PAGE.test(path) || CONTROL.test(path)
      || !URL.canParse(path, location.origin))
  {
    return null;
  }

  const { href, origin, pathname } = new URL(path, location.origin);

  return origin === location.origin && pathname === path.split(/[?#]/)[0]
         && (application || href.length - origin.length <= LONGEST) ? href : null;
}


export async function find() {
  home.next = returnTo();

  if (home.next && APPLICATION.test(home.next.slice(location.origin.length))) {
    const application = await import("./consent.js");

    home.start = application.start;
    await application.tenant();
  }
}
