/**
 * Calls a function of a Python script: `python3 -c RUNNER SCRIPT FUNCTION PACKAGE FOLDER...`. Standard input has a line
 * with more of its environment and then the input, both as JSON; until it ends nothing of the script runs. Writes `started` and then one JSON document to file descriptor 3, so that what the script prints is
 * never part of the result. A text, as the compiler would not copy a .py file.
 *
 * Modules are imported late, since each costs milliseconds in every call.
 */
export const PYTHON_RUNNER = String.raw`
import json, os, sys

STANDARD_PATH = list(sys.path)
CALLED = os.getpid()

def send(channel, text):
    # A process that the script has forked comes back here as well; what it returns is nobody's result.
    if os.getpid() != CALLED:
        return
    data = memoryview(text.encode("utf-8"))
    while data:
        data = data[os.write(channel, data):]

# What lies beside the script may have the name of a module of the standard library.
def import_standard(name):
    path, sys.path = sys.path, STANDARD_PATH
    try:
        return __import__(name)
    finally:
        sys.path = path

def describe(error, depth=0):
    facts = {"type": type(error).__name__, "message": str(error)[:8000]}
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return facts if cause is None or depth == 10 else {**facts, "cause": describe(cause, depth + 1)}

def fail(channel, kind, error, code=1):
    traceback = import_standard("traceback")
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == "<string>":
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames)
    facts = {"ok": False, "kind": kind, **describe(error), "traceback": "".join(lines)[-8000:]}
    send(channel, json.dumps(facts))
    sys.exit(code)

def load(script, package):
    stem = os.path.splitext(os.path.basename(script))[0]
    taken = stem in sys.modules or stem in sys.stdlib_module_names
    module = type(sys)("pawl_script" if taken else stem)
    module.__file__ = script
    module.__package__ = package
    sys.modules[module.__name__] = module
    with open(script, "rb") as file:
        return module, compile(file.read(), script, "exec", dont_inherit=True)

# Without the module inspect, which takes longer to import than Python to start.
def arguments_for(function, value):
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return (value,), {}
    names = code.co_varnames[:code.co_argcount]
    if hasattr(function, "__self__"):
        names = names[1:]
    keyword_only = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    takes_rest, takes_any = bool(code.co_flags & 8), bool(code.co_flags & 4)
    if not names and not keyword_only and not takes_rest:
        return ((value,), {}) if takes_any else ((), {})
    is_named = isinstance(value, dict) and names[:1] and names[0] in value
    if names[:1] == ("input",) or len(names) == 1 and not keyword_only and not takes_rest and not is_named:
        return (value,), {}
    required = [*names[:len(names) - len(function.__defaults__ or ())], *(name for name in keyword_only if name not in (function.__kwdefaults__ or {}))]
    fields = value if isinstance(value, dict) else {}
    missing = [name for name in required if name not in fields]
    if not missing and isinstance(value, dict):
        known = fields if takes_rest else {name: fields[name] for name in (*names, *keyword_only) if name in fields}
        positional = [known.pop(name) for name in names[:code.co_posonlyargcount] if name in known]
        return tuple(positional), known
    if len(names) > 0 and len(required) <= 1:
        return (value,), {}
    raise TypeError("the input has no " + ", ".join("'%s'" % name for name in missing) + ", which the function's parameters name")

def find_fault(value, path, above):
    if value is None or isinstance(value, (bool, int, str)):
        return None
    if isinstance(value, float):
        return None if value - value == 0 else "%s is %s, which JSON does not have" % (path, "NaN" if value != value else "infinite")
    if not isinstance(value, (dict, list, tuple)):
        return "%s is of the type %s, which JSON does not have" % (path, type(value).__name__)
    if id(value) in above:
        return "%s contains itself" % path
    if len(above) > 900:
        return "%s... is nested too deeply" % path[:100]
    above = above | {id(value)}
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict) and not isinstance(key, (str, int, float, bool, type(None))):
            return "%s has a key of the type %s; keys are texts" % (path, type(key).__name__)
        fault = find_fault(item, "%s.%s" % (path, key) if isinstance(value, dict) else "%s[%d]" % (path, key), above)
        if fault is not None:
            return fault
    return None

def to_json(result):
    try:
        return json.dumps(result, allow_nan=False, separators=(",", ":")), None
    except (TypeError, ValueError, RecursionError) as error:
        return None, find_fault(result, "the result", frozenset()) or str(error)

def run():
    script, name, package, *folders = sys.argv[1:]
    channel = os.dup(3)
    os.close(3)
    environment, _, text = sys.stdin.buffer.read().partition(b"\n")
    os.environ.update(json.loads(environment))
    value = json.loads(text)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.argv = [script]
    sys.path = [*folders, *sys.path]
    try:
        module, code = load(script, package)
    except (SyntaxError, ValueError) as error:
        fail(channel, "syntax", error)
    send(channel, "started\n")
    try:
        exec(code, module.__dict__)
        function = getattr(module, name, None)
        if not callable(function):
            raise NameError("there is no function '%s' in the script" % name)
        args, fields = arguments_for(function, value)
        result = function(*args, **fields)
        if hasattr(result, "__await__"):
            asyncio = import_standard("asyncio")
            async def wait_for(awaitable):
                return await awaitable
            result = asyncio.run(wait_for(result))
        text, fault = to_json(result)
    except Exception as error:
        fail(channel, "exception", error)
    sys.stdout.flush()
    if os.getpid() != CALLED:
        return
    finish()
    send(channel, ('{"ok":true,"result":%s}' % text if fault is None else json.dumps({"ok": False, "kind": "invalid", "message": fault})) + "\0")
    os._exit(0)

# What Python does as it ends, without taking itself apart, which takes longer than most calls.
def finish():
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    import_standard("atexit")._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass

run()
`;
