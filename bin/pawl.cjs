#!/usr/bin/env node
// Every Node since 0.10 must be able to read this file, so that an old one says what is missing: no syntax after ES5 here.
"use strict";

var path = require("path");

if (isNewEnough(process.versions.node)) {
  require("./start.cjs");
} else {
  runUnder(findNewerNode());
}

function isNewEnough(version) {
  var parts = version.split(".");
  var major = Number(parts[0]);
  return major > 22 || (major === 22 && Number(parts[1]) >= 13);
}

/** The package `node`, where a project has it as a dependency: in this checkout, or where Pawl is installed. */
function findNewerNode() {
  if (process.env.PAWL_WRAPPER_PID) return null; // The one that was found is too old as well.
  var fs = require("fs");
  var inModules = process.platform === "win32" ? "node_modules/node/bin/node.exe" : "node_modules/.bin/node";
  var folder = __dirname;
  while (folder !== path.dirname(folder)) {
    folder = path.dirname(folder);
    if (fs.existsSync(path.join(folder, inModules))) return path.join(folder, inModules);
  }
  return null;
}

function runUnder(node) {
  if (node === null) {
    console.error("pawl needs Node.js 22.13 or newer. This is " + process.version + " (" + process.execPath + ").");
    console.error("Install a newer one from https://nodejs.org/, or add it to your project: npm install --save-dev node@24");
    process.exit(2);
  }

  var env = {};
  Object.keys(process.env).forEach(function (name) {
    env[name] = process.env[name];
  });
  env.PAWL_WRAPPER_PID = String(process.pid);
  var args = process.execArgv.concat([path.join(__dirname, "pawl.cjs")], process.argv.slice(2));
  var child = require("child_process").spawn(node, args, { stdio: "inherit", env: env });

  // A terminal sends Ctrl-C to the child as well, and twice would mean "at once". Every other signal reaches only us.
  var atTerminal = [0, 1, 2].some(require("tty").isatty);
  ["SIGINT", "SIGTERM", "SIGHUP"].forEach(function (signal) {
    process.on(signal, function () {
      if (signal !== "SIGINT" || !atTerminal) child.kill(signal);
    });
  });

  child.on("error", function (error) {
    console.error("pawl could not start " + node + ": " + error.message);
    process.exit(2);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
