// Which chromium tests start: the one without a window, where it is installed, takes half
// the time.  t/chromium_passkey.t has the other one.

import { existsSync } from "node:fs";

export const executablePath =
  [ "/usr/bin/chromium-headless-shell", "/usr/bin/chromium" ].find(existsSync);
