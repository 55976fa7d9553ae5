/** Runs before anything is drawn, so that a page that is dark never flashes white. */

import { apply } from "./theme";

apply();
