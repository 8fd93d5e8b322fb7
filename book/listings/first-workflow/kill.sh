pkill -KILL trip
