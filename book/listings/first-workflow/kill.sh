pkill -KILL -x trip
