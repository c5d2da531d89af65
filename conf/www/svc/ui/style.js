// A style sheet that comes with a view, and is there before the view is.

export const dress = href => new Promise(loaded => {
  const sheet = document.createElement("link");

  Object.assign(sheet, { rel: "stylesheet", href, onload: loaded, onerror: loaded });
  document.head.append(sheet);
});
