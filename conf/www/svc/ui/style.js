// A style sheet that comes with a view or a dialog, and is there before it is.

const loaded = new Map();

// That of ui/ comes before those of the page, which know better.

export function styled(href) {
  if (!loaded.has(href)) {
    loaded.set(href, new Promise(done => {
      const sheet = document.createElement("link");

      Object.assign(sheet, { rel: "stylesheet", href, onload: done, onerror: done });
      document.head[href.startsWith("/svc/ui/") ? "prepend" : "append"](sheet);
    }));
  }

  return loaded.get(href);
}
