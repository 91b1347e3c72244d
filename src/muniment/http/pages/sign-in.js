const message = document.getElementById("message");
const signIn = document.getElementById("sign-in");
const setPassword = document.getElementById("set-password");
const inside = document.getElementById("inside");

async function call(method, path, body) {
  const answer = await fetch("/api/v1/auth/" + path, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const content = answer.status === 204 ? {} : await answer.json();
  if (!answer.ok) {
    throw new Error(typeof content.detail === "string" ? content.detail : "Something is missing or too short");
  }
  return content;
}

function show(form, text) {
  for (const part of [signIn, setPassword, inside]) part.hidden = part !== form;
  message.textContent = text;
}

function submitted(form, send) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await send(Object.fromEntries(new FormData(form)));
    } catch (error) {
      message.textContent = error.message;
    }
  });
}

submitted(signIn, async (fields) => {
  const me = await call("POST", "login", fields);
  show(inside, "Signed in as " + me.email + ".");
});

submitted(setPassword, async (fields) => {
  await call("PUT", "password", fields);
  show(inside, "The password is set. You are signed in.");
});

document.getElementById("sign-out").addEventListener("click", async () => {
  await call("POST", "logout");
  show(signIn, "Signed out.");
});

async function begin() {
  // The secret stands behind the #, which no browser sends: it reaches no log, and leaves the address bar at once.
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname);
  if (token) {
    try {
      const me = await call("POST", "redeem", { token });
      return show(setPassword, "Welcome. You are signed in as " + me.email + ".");
    } catch (error) {
      return show(signIn, error.message);
    }
  }
  try {
    const me = await call("GET", "me");
    show(me.has_password ? inside : setPassword, "Signed in as " + me.email + ".");
  } catch {
    show(signIn, "Sign in to go on.");
  }
}

begin();
