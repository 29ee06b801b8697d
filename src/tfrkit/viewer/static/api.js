// Owns what is said to the server: JSON requests, their errors, and the events of background jobs.

/** What went wrong, in words for people: message, hint, and for an expression the character it stopped at. */
class ApiError extends Error {
  constructor(message, { hint = null, at = null, status = 0 } = {}) {
    super(message);
    this.hint = hint;
    this.at = at;
    this.status = status;
  }
}

/** The address of a request. Parameters that are null are left out. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** The error that an answer carries. */
async function errorOf(response) {
  const { status } = response;
  try {
    const { error, hint, at } = await response.json();
    return new ApiError(error, { hint, at, status });
  } catch {
    if (status !== 403) return new ApiError(`The viewer answered ${status}.`, { status });
    const hint = "Open the address again that `tfr view` printed.";
    return new ApiError("This page has no access any more.", { hint, status });
  }
}

async function ask(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The viewer does not answer.", { hint: "Is `tfr view` still running?" });
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** GET JSON. */
export async function get(path, parameters = {}, signal = undefined) {
  return (await ask(address(path, parameters), { signal })).json();
}

/** GET bytes, as a Blob. */
export async function blob(url, signal = undefined) {
  return (await ask(url, { signal })).blob();
}

/** Start a background job; its id. */
export async function startJob(kind, set, where, options = {}) {
  const body = JSON.stringify({ kind, set, where: where || null, options });
  const headers = { "content-type": "application/json" };
  return (await (await ask("/api/jobs", { method: "POST", headers, body })).json()).id;
}

/** Cancel a job and forget it. */
export async function cancelJob(id) {
  await ask(`/api/jobs/${id}`, { method: "DELETE" }).catch(() => null); // it may be gone already, which is as good
}

/** Cancel a job, and keep what it found. */
export async function stopJob(id) {
  await ask(`/api/jobs/${id}?keep=1`, { method: "DELETE" }).catch(() => null);
}

const MAX_STREAMS = 2; // a browser opens six connections to a server: the others are for data
let streams = 0;

/**
 * Call a function with what a job says until it ends, and then no more. The returned function stops that earlier.
 * Further jobs than two at once, and jobs of pages in the background, are asked for twice a second instead.
 */
export function watchJob(id, tell) {
  let stopped = false;
  let source = null;
  let timer = 0;
  let round = 0;
  const close = () => {
    if (source === null) return;
    source.close();
    source = null;
    streams -= 1;
  };
  const stop = () => {
    stopped = true;
    close();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", follow);
  };
  const say = (event) => {
    if (stopped) return;
    if (event.state !== "running") stop();
    tell(event);
  };
  const poll = async (mine) => {
    try {
      say(await get(`/api/jobs/${id}`));
    } catch (error) {
      say({ state: "failed", error: error.message, hint: error.hint });
    }
    if (!stopped && mine === round) timer = setTimeout(poll, document.hidden ? 5000 : 500, mine);
  };
  function follow() {
    close();
    clearTimeout(timer);
    round += 1;
    if (document.hidden || streams >= MAX_STREAMS) {
      poll(round);
      return;
    }
    streams += 1;
    source = new EventSource(`/api/jobs/${id}/events`);
    source.onmessage = (message) => say(JSON.parse(message.data));
    source.onerror = () => {
      close();
      if (!stopped) poll(round);
    };
  }
  document.addEventListener("visibilitychange", follow);
  follow();
  return stop;
}
